"""A process on a node: reads shards, makes features, learns them, adds sums, and keeps what comes of it in files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from anacp.cluster.keeping import Kept, disk
from anacp.cluster.reading import Described, Reading, described, rows_of
from anacp.cluster.shards import Shard
from anacp.cluster.tree import Range, leaf
from anacp.encoders import Encoder, FeatureStore
from anacp.errors import AnacpError, ImageError, MismatchError, MissingDataError
from anacp.items import hold
from anacp.learners import Learner
from anacp.methods import short_digests

Offsets = NDArray[np.int32]  # rows of a shard, counted from its first
Digests = NDArray[np.int64]
Sent = tuple[NDArray[np.uint8], dict[int, dict[str, Any]]]  # a file, and what was said of each of its shards


@dataclass(frozen=True)
class Job:
    """What is to be learned from shards: the same in every process that works at it."""

    key: str
    reading: Reading
    learner: Learner[Any]  # that has learned nothing
    as_texts: bool = False  # labels that are numbers here are texts elsewhere


class Refused(NamedTuple):
    """An error that is the answer: what was asked for cannot be done anywhere."""

    problem: AnacpError


class Hello(NamedTuple):
    """What a worker says first: where it is, and what is kept there."""

    disk: str
    pid: int
    ranges: list[Range]
    told: dict[int, dict[str, Any]]


@dataclass(frozen=True)
class Looked:
    """What the rows of a shard are by their content."""

    offsets: Offsets  # (k,) of those that can be read
    digests: Digests  # (k,)
    unread: list[tuple[int, str]] = field(default_factory=list)  # offset and reason


def answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose errors on purpose are answers: only what is no fault of the shard is raised."""

    @wraps(method)
    def answered(self: Worker, *asked: Any) -> Any:
        try:
            return method(self, *asked)
        except AnacpError as problem:
            return Refused(problem)

    return answered


class Worker:
    """What runs in a Ray actor. It holds a network and nothing that was learned: it may end at any time.

    Parameters
    ----------
    encoder : Encoder, optional
        With its network in hand, as the driver sent it; checked by its fingerprint.
    device : str
        Where the network runs.
    """

    def __init__(self, encoder: Encoder | None, device: str = "cpu") -> None:
        self._encoder: Encoder | None = None
        self._problem: AnacpError | None = None
        try:
            self._encoder = None if encoder is None else encoder.received(device)
        except AnacpError as problem:  # said when it is greeted: what an actor raises while it starts is lost
            self._problem = problem

    @answering
    def hello(self, key: str, known: tuple[str, ...]) -> Hello:
        """Say where this is, and what is kept there of a job; nothing of disks that are known."""
        if self._problem is not None:
            raise self._problem
        kept, own = Kept(key), disk()
        return Hello(own, os.getpid(), *(([], {}) if own in known else (kept.ranges(), kept.told())))

    @answering
    def describe(self, reading: Reading, place: str) -> Described:
        """Read a part, and say what it holds."""
        return described(reading, place)

    @answering
    def look(self, reading: Reading, shard: Shard) -> Looked:
        """Return what the rows of a shard are by their content; the network is not asked."""
        part = rows_of(reading, shard.place, shard.mark)
        modality: Any = part.modality
        offsets, digests, unread = [], [], []
        for offset, position in enumerate(range(shard.start, shard.stop)):
            try:
                digests.append(hold(part.items[position], modality, position).digest)
                offsets.append(offset)
            except ImageError as problem:
                unread.append((offset, str(problem)))
        return Looked(np.array(offsets, np.int32), short_digests(digests), unread)

    @answering
    def learn(self, job: Job, shard: Shard, offsets: Offsets, digests: Digests) -> dict[str, Any]:
        """Keep the sum of some rows of a shard, which must have these digests; return what there is to say of it."""
        start = perf_counter()
        part = rows_of(job.reading, shard.place, shard.mark)
        positions = shard.start + offsets
        labels = part.labels.astype(str) if job.as_texts else part.labels
        told: dict[str, Any] = {"skipped": [], "cut": [], "foreign": []}
        if self._encoder is None:
            x: Any = np.asarray(part.items)[positions]
        else:
            items = [part.items[position] for position in positions]
            found = self._encoder.encode(items, on_error=job.reading.on_error)
            if not np.array_equal(short_digests(found.digests), digests[found.kept]):
                raise MismatchError(f"Expected {shard} as they were at the start, got others. Start again.")
            read, x = set(found.kept.tolist()), found.x
            missing = [row for row in range(len(items)) if row not in read]
            told["skipped"] = [
                [int(offsets[row]), str(item), reason]
                for row, (item, reason) in zip(missing, found.skipped, strict=True)
            ]
            told["cut"] = [str(items[row]) for row in found.cut]
            told["foreign"] = [str(items[row]) for row in found.foreign]
            positions = positions[found.kept]
        learner = clone(job.learner).partial_fit(x, labels[positions]) if len(positions) else None
        told |= {"rows": len(positions), "seconds": perf_counter() - start}
        kept = Kept(job.key)
        kept.tell(shard.number, told)
        kept.put(leaf(shard.number), learner)
        return told

    @answering
    def give_up(self, key: str, shard: Shard, reason: str, offsets: Offsets) -> dict[str, Any]:
        """Keep a shard as one of no rows: whoever worked at it was ended."""
        told = {"skipped": [[int(one), f"row {shard.start + one + 1:,} of {shard.place}", reason] for one in offsets]}
        told |= {"cut": [], "foreign": [], "rows": 0, "seconds": 0.0}  # type: ignore[dict-item]
        kept = Kept(key)
        kept.tell(shard.number, told)
        kept.put(leaf(shard.number), None)
        return told

    @answering
    def merge(self, key: str, whole: Range) -> float:
        """Keep the sum of two halves that are here, in place of them; return how long it took."""
        start, kept = perf_counter(), Kept(key)
        if not kept.holds(whole):
            left, right = (kept.get(half) for half in whole.halves)
            kept.put(whole, left + right if left is not None and right is not None else left or right)
        for half in whole.halves:
            kept.drop(half)
        return perf_counter() - start

    def send(self, key: str, one: Range) -> Sent | None:
        """Return the file of a sum, and what was said of its shards, for another disk; None if it is not here."""
        kept = Kept(key)
        if not kept.holds(one):
            return None
        told = {number: words for number, words in kept.told().items() if one.start <= number < one.stop}
        return np.frombuffer(kept.send(one), np.uint8), told

    @answering
    def receive(self, key: str, one: Range, sent: Sent | None) -> int:
        """Keep what another disk has sent; return how many bytes it was."""
        if sent is None:
            raise MissingDataError(f"Expected the sum of shards {one.start + 1:,} to {one.stop:,}, got none.")
        content, told = sent
        kept = Kept(key)
        for number, words in told.items():
            kept.tell(number, words)
        kept.receive(one, content.tobytes())
        return len(content)

    @answering
    def extract(self, reading: Reading, shard: Shard, home_disk: str) -> tuple[int, list[Any], list[Any], float]:
        """Have the features of a shard in this node's store.

        Returns how many, what was skipped, for each network the rows if the store is not the driver's, and how long it
        took.
        """
        assert self._encoder is not None
        start = perf_counter()
        part, store = rows_of(reading, shard.place, shard.mark), FeatureStore()
        items = list(part.items[shard.start : shard.stop])
        found = self._encoder.encode(items, store=store, on_error=reading.on_error)
        rows: list[Any] = []
        for one in self._encoder.parts if disk() != home_disk and len(found.x) else ():
            stored = store.features(one.whole)
            rows.append((found.digests, np.stack([stored.get(digest) for digest in found.digests])))  # type: ignore[misc]
        skipped = [(str(item), reason) for item, reason in found.skipped]
        return len(found.x), skipped, rows, perf_counter() - start

    def clear(self, key: str) -> None:
        """Delete what is kept of a job here."""
        Kept(key).clear()
