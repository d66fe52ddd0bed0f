"""How many workers each node gets, and what they are sent."""

from __future__ import annotations

from typing import Any

from anacp.cluster.connecting import Cluster, Node
from anacp.cluster.pool import Pool
from anacp.cluster.worker import Worker
from anacp.encoders import Encoder

MOST_CPUS = 4.0  # of one worker: networks of this size gain little by more


def pool_of(
    cluster: Cluster, encoder: Encoder | None = None, *, device: str = "cpu", cpus: float | None = None
) -> Pool:
    """Return workers that have this encoder, its network shipped once to each node, with so many processors each."""
    ray = cluster.ray
    sent = None if encoder is None else ray.put(encoder.portable())
    on_gpu = device.partition(":")[0] not in ("cpu", "mps")

    def share(node: Node) -> float:
        return min(node.cpus, cpus or MOST_CPUS)

    def slots(node: Node) -> int:
        by_cpu = int(node.cpus // share(node)) if share(node) >= 1 else 0
        return min(by_cpu, int(node.gpus)) if on_gpu else by_cpu

    actor = ray.remote(Worker)

    def start(node: Node) -> Any:
        options = {"num_cpus": share(node), "num_gpus": 1 if on_gpu else 0, "max_restarts": 0, "max_task_retries": 0}
        return actor.options(scheduling_strategy=cluster.on(node), **options).remote(sent, device)

    return Pool(cluster, start, slots)
