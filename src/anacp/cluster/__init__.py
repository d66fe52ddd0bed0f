"""The same work on Ray: shards of a source in processes of many nodes, exact in spite of faults."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.cluster.connecting import Cluster, Node, connected
    from anacp.cluster.learning import Summed, summed
    from anacp.cluster.reading import Reading, has_features
    from anacp.cluster.summary import NodeDid, Tally

__all__ = ["Cluster", "Node", "NodeDid", "Reading", "Summed", "Tally", "connected", "has_features", "summed"]

__getattr__ = door(__name__)
