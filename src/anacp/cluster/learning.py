"""Learning from shards on a cluster: the model of one machine, whatever the nodes and the faults."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.cluster.choosing import Chosen, check_labels, choose, refusal
from anacp.cluster.connecting import Cluster
from anacp.cluster.keeping import Kept, disk
from anacp.cluster.learn_desk import LearnDesk
from anacp.cluster.pool import Pool
from anacp.cluster.reading import Reading
from anacp.cluster.shards import ROWS, Shard
from anacp.cluster.source import Source
from anacp.cluster.staffing import pool_of
from anacp.cluster.summary import Tally
from anacp.cluster.worker import Job, Looked
from anacp.datasets import LeftOut
from anacp.encoders import Encoder
from anacp.errors import AnacpError, InputError, MismatchError, UnavailableError
from anacp.items import content_hash
from anacp.learners import Learner
from anacp.methods import Conflict, Digests, LearnedExamples, OnConflict
from anacp.progress import Progress, Report


@dataclass(frozen=True, eq=False)
class Summed:
    """What was learned from shards, and what there is to say of it."""

    learner: Learner[Any] | None  # None: there was nothing new
    labels: NDArray[Any]  # (n,) of the rows that were learned
    digests: Digests  # (n,)
    n_known: int
    skipped: list[tuple[Any, str]]
    conflicts: list[Conflict]
    cut: list[Any]
    foreign: list[Any]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    tally: Tally
    seconds: float
    job: str
    plan: str
    _pool: Pool = field(repr=False)
    _own_pool: bool = True

    def clear(self) -> None:
        """Delete what was kept against faults, once the model is saved."""
        for key in (self.job, self.plan):
            Kept(key).clear()
            for _ in self._pool.everywhere("clear", key):
                pass
        if self._own_pool:
            self._pool.close()


def summed(
    cluster: Cluster,
    sources: Sequence[str],
    learner: Learner[Any],
    encoder: Encoder | None = None,
    *,
    reading: Reading,
    strict: bool = False,
    on_conflict: OnConflict = "keep",
    known: LearnedExamples | None = None,
    classes: NDArray[Any] | None = None,
    rows: int = ROWS,
    workers: Pool | None = None,
    report: Report | None = None,
) -> Summed:
    """Learn the shards of some sources on a cluster, and return the sum.

    Parameters
    ----------
    cluster : Cluster
        Of `connected`.
    sources : sequence of str
        Files, folders, addresses that fsspec opens, or "sample:NAME".
    learner : Learner
        That has learned nothing: its method and parameters.
    encoder : Encoder, optional
        What makes features; none where the sources are of features.
    reading : Reading
        How sources are read.
    strict : bool
        Refuse whatever would be left out.
    on_conflict : {"keep", "refuse", "skip"}
        As for `Classifier.learn`.
    known, classes : optional
        Which examples were learned before, and as which classes.
    rows : int
        Of a shard: what the loss of a process costs.
    workers : Pool, optional
        Of `pool_of`, with this encoder: they stay after this. By default workers are started, and end with `clear`.
    report : callable, optional
        Called with a `Progress` now and then.
    """
    start, tally = perf_counter(), Tally()
    pool = workers or pool_of(cluster, encoder)
    deaths, lost_nodes = pool.deaths, pool.lost_nodes
    try:
        source = Source(pool, sources, reading, strict=strict, rows=rows, report=report)
        check_labels(source.labels, classes)
        _check_kind(source, encoder)
        looked = source.looked() if encoder is not None else _all_of(source.shards)
        chosen, digests = _chosen(source, looked, known or LearnedExamples(), on_conflict, encoder is not None)
        desk, job = _learned(cluster, pool, source, looked, chosen, digests, learner, encoder, tally, report)
    except BaseException:
        if workers is None:
            pool.close()
        raise
    tally.deaths, tally.lost_nodes = pool.deaths - deaths, pool.lost_nodes - lost_nodes
    tally.shards = len(source.shards)
    told = [desk.told[shard.number] for shard in source.shards]
    taken = chosen.wanted.copy()
    for shard, words in zip(source.shards, told, strict=True):
        taken[[shard.first + offset for offset, _, _ in words["skipped"]]] = False
    unread = [
        (f"row {shard.start + offset + 1:,} of {shard.place}", reason)
        for shard, found in zip(source.shards, looked, strict=True)
        for offset, reason in found.unread
    ]
    skipped = unread + [(item, reason) for words in told for _, item, reason in words["skipped"]]
    conflicts = [
        Conflict(_row_named(source.shards, int(place)), source.labels[place].item(), other)
        for place, other in zip(chosen.conflicts, chosen.others, strict=True)
    ]
    n_left_out = len(conflicts) if on_conflict == "skip" else 0
    return Summed(
        learner=Kept(job.key).get(desk.whole) if taken.any() else None,
        labels=source.labels[taken],
        digests=digests[taken],
        n_known=len(taken) - int(taken.sum()) - len(skipped) - n_left_out,
        skipped=skipped,
        conflicts=conflicts,
        cut=[one for words in told for one in words["cut"]],
        foreign=[one for words in told for one in words["foreign"]],
        left_out=source.left_out,
        notes=source.notes,
        tally=tally,
        seconds=perf_counter() - start,
        job=job.key,
        plan=source.plan,
        _pool=pool,
        _own_pool=workers is None,
    )


def _learned(
    cluster: Cluster,
    pool: Pool,
    source: Source,
    looked: Sequence[Looked],
    chosen: Chosen,
    digests: Digests,
    learner: Learner[Any],
    encoder: Encoder | None,
    tally: Tally,
    report: Report | None,
) -> tuple[LearnDesk, Job]:
    """Have all shards learned and added, and the sum brought here."""
    wanted = [_offsets(shard, chosen, digests) for shard in source.shards]
    about = [
        "features" if encoder is None else encoder.fingerprint,
        type(learner).__name__,
        repr(sorted(learner.get_params().items())),
        source.plan,
        repr(replace(source.reading, modality=None)),
    ]
    key = content_hash(json.dumps(about).encode(), chosen.wanted.tobytes(), digests.tobytes())
    job = Job(key, source.reading, learner, source.as_texts)
    options: dict[str, Any] = {"home": disk(), "n_nodes": len(cluster.nodes()), "tally": tally}
    desk = LearnDesk(job, source.shards, wanted, skip=source.reading.on_error == "skip", **options)
    total = int(chosen.wanted.sum())

    def told() -> None:
        if report is not None:
            report(Progress("features", total - desk.n_rows_left, total, desk.n_skipped))

    pool.key = key
    try:
        pool.run(desk, told)
    except MismatchError:
        Kept(source.plan).clear()  # contents changed since they were looked at: the next start looks again
        raise
    tally.found = len(source.shards) - len(desk.learned_here)
    _bring(cluster, pool, desk, key)
    return desk, job


def _bring(cluster: Cluster, pool: Pool, desk: LearnDesk, key: str) -> None:
    """Have the whole sum on the driver's own disk."""
    kept = Kept(key)
    if kept.holds(desk.whole):
        return
    ray = cluster.ray
    for hand in pool.hands:
        if hand.disk in desk.have[desk.whole]:
            try:
                sent = ray.get(hand.actor.send.remote(key, desk.whole))
            except ray.exceptions.RayError:
                continue
            if sent is not None:
                kept.receive(desk.whole, sent[0].tobytes())
                return
    raise UnavailableError("Expected the sum of all shards from the node that has it, got no answer. Start again.")


def _chosen(
    source: Source, looked: Sequence[Looked], known: LearnedExamples, on_conflict: OnConflict, by_content: bool
) -> tuple[Chosen, Digests]:
    """Return which rows are learned, and the digests of all."""
    n = len(source.labels)
    digests, readable = np.zeros(n, np.int64), np.zeros(n, bool)
    for shard, found in zip(source.shards, looked, strict=True):
        digests[shard.first + found.offsets], readable[shard.first + found.offsets] = found.digests, True
    if not by_content:
        return Chosen(readable, np.empty(0, np.intp), []), digests
    unread = [reason for found in looked for _, reason in found.unread]
    if unread and source.reading.on_error == "refuse":
        raise _refused(unread)
    chosen = choose(source.labels, digests, readable, known, on_conflict)
    if len(chosen.conflicts) and on_conflict == "refuse":
        pairs = zip(chosen.conflicts.tolist(), chosen.others, strict=True)
        raise refusal(
            [
                f"{_row_named(source.shards, place)} as {source.labels[place].item()!r} and {other!r}"
                for place, other in pairs
            ]
        )
    return chosen, digests


def _refused(reasons: Sequence[str]) -> AnacpError:
    rest = f" And {len(reasons) - 1:,} more." if len(reasons) > 1 else ""
    return InputError(f"{reasons[0]}{rest} Leave them out: --on-error skip (in Python on_error='skip').")


def _all_of(shards: Sequence[Shard]) -> list[Looked]:
    """Return all rows of all shards: rows of features count as often as they are given."""
    return [Looked(np.arange(len(shard), dtype=np.int32), np.zeros(len(shard), np.int64)) for shard in shards]


def _offsets(shard: Shard, chosen: Chosen, digests: Digests) -> tuple[NDArray[np.int32], Digests]:
    offsets = np.flatnonzero(chosen.wanted[shard.first : shard.first + len(shard)]).astype(np.int32)
    return offsets, digests[shard.first + offsets]


def _row_named(shards: Sequence[Shard], place: int) -> str:
    shard = shards[bisect_right(shards, place, key=lambda one: one.first) - 1]
    return f"row {shard.start + place - shard.first + 1:,} of {shard.place}"


def _check_kind(source: Source, encoder: Encoder | None) -> None:
    expected = "features" if encoder is None else encoder.modality
    if source.modality != expected:
        raise MismatchError(
            f"Expected {expected}{'s' * (encoder is not None)}, got {source.modality}. "
            "Give another --model, or another --backbone, for these."
        )
