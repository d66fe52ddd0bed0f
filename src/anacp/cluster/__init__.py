"""The same work on Ray: shards of a source in processes of many nodes, exact in spite of faults."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.cluster.connecting import Cluster, Node, connected

__all__ = ["Cluster", "Node", "connected"]

__getattr__ = door(__name__)
