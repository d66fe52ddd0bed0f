"""The same work on Ray: shards of a source in processes of many nodes, exact in spite of faults."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.cluster.connecting import Cluster, Node, connected
    from anacp.cluster.extracting import Extracted, extract
    from anacp.cluster.learning import Summed, summed
    from anacp.cluster.pool import Pool
    from anacp.cluster.reading import Reading, has_features, modality_of
    from anacp.cluster.running import Crew, runs_on
    from anacp.cluster.staffing import pool_of
    from anacp.cluster.summary import NodeDid, Tally
    from anacp.cluster.teaching import OnCluster, learn, learn_features

__all__ = [
    "Cluster",
    "Crew",
    "Extracted",
    "Node",
    "NodeDid",
    "OnCluster",
    "Pool",
    "Reading",
    "Summed",
    "Tally",
    "connected",
    "extract",
    "has_features",
    "learn",
    "learn_features",
    "modality_of",
    "pool_of",
    "runs_on",
    "summed",
]

__getattr__ = door(__name__)
