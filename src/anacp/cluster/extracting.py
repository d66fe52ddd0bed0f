"""Features made on a cluster, and kept in the store of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from anacp.cluster.connecting import Cluster
from anacp.cluster.keeping import disk
from anacp.cluster.pool import Hand, Pool, Work
from anacp.cluster.reading import Reading
from anacp.cluster.shards import ROWS
from anacp.cluster.source import Source
from anacp.cluster.staffing import pool_of
from anacp.cluster.summary import Tally
from anacp.cluster.worker import Refused
from anacp.datasets import LeftOut
from anacp.encoders import Encoder, FeatureStore
from anacp.errors import MismatchError
from anacp.progress import Report


@dataclass(frozen=True, eq=False)
class Extracted:
    """What was extracted."""

    rows: int  # that have features in the store now, those given twice counted twice
    skipped: list[tuple[str, str]]  # item and reason
    left_out: tuple[LeftOut, ...]
    tally: Tally
    seconds: float


def extract(
    cluster: Cluster,
    encoder: Encoder,
    sources: Sequence[str],
    *,
    reading: Reading,
    strict: bool = False,
    rows: int = ROWS,
    workers: Pool | None = None,
    report: Report | None = None,
) -> Extracted:
    """Have the features of some sources in this machine's store, made by all nodes.

    A node that shares this machine's ANACP_HOME writes into the store itself; of others the rows come here. What the
    store of a node has is not computed again, so that a start that was stopped goes on where it was.

    Parameters
    ----------
    cluster : Cluster
        Of `connected`.
    encoder : Encoder
        What makes features.
    sources, reading, strict, rows, workers, report
        As for `summed`.
    """
    start, tally, home_disk, store = perf_counter(), Tally(), disk(), FeatureStore()
    pool = workers or pool_of(cluster, encoder)
    deaths, lost_nodes = pool.deaths, pool.lost_nodes
    found: dict[int, tuple[int, list[Any]]] = {}
    stored = [store.features(part.whole) for part in encoder.parts]
    try:
        source = Source(pool, sources, reading, strict=strict, rows=rows, report=report)
        if source.modality != encoder.modality:
            raise MismatchError(f"Expected {encoder.modality}s, which {encoder.name} takes, got {source.modality}s.")

        def take(work: Work, answer: Any, hand: Hand | None) -> None:
            if isinstance(answer, Refused):
                raise answer.problem
            n, skipped, sent, seconds = answer
            for mine, (digests, x) in zip(stored, sent, strict=False):
                for digest, row in zip(digests, x, strict=True):
                    mine.add(digest, row, seconds / max(1, len(x)))
            found[work.asked[1].number] = n, skipped
            if hand is not None:
                tally.learned(hand.node, {"rows": n, "seconds": seconds})

        works = [Work("extract", str(one), (reading, one, home_disk)) for one in source.shards]
        source.ask(works, take, "features")
    finally:
        for mine in stored:
            mine.flush()
        if workers is None:
            pool.close()
    tally.deaths, tally.lost_nodes = pool.deaths - deaths, pool.lost_nodes - lost_nodes
    tally.shards = len(source.shards)
    skipped = [one for number in sorted(found) for one in found[number][1]]
    total = sum(n for n, _ in found.values())
    return Extracted(total, skipped, source.left_out, tally, perf_counter() - start)
