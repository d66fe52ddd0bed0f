"""Requests gathered into batches: while the network works, others wait, and go together next."""

from __future__ import annotations

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.encoders import Encoder
from anacp.errors import NotLearnedError
from anacp.labels import Labels
from anacp.serve.solving import Snapshot

MOST = 64  # items of one batch
REMEMBERED = 4096  # rows of features: a probe that is asked again after each change is not computed again
Row = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Seen:
    """Items as the model sees them; what cannot be read has a problem instead of features."""

    digests: Sequence[bytes]
    rows: Sequence[Row | None]
    problems: Sequence[str]  # empty for what could be read


@dataclass(frozen=True, eq=False)
class Judged:
    """What one version of the model says of some rows."""

    version: int
    classes: Labels
    probabilities: NDArray[Any]  # (n, c)
    familiarity: NDArray[Any] | None  # (n,)

    def rows(self, some: slice) -> Judged:
        """Return what is said of some of the rows."""
        heights = None if self.familiarity is None else self.familiarity[some]
        return Judged(self.version, self.classes, self.probabilities[some], heights)


@dataclass(frozen=True, eq=False)
class Ranked:
    """What a version says that is solved and not settled yet: which labels are likelier, and not how likely."""

    version: int
    classes: Labels
    scores: NDArray[Any]  # (n, c), the largest wins

    def rows(self, some: slice) -> Ranked:
        """Return what is said of some of the rows."""
        return Ranked(self.version, self.classes, self.scores[some])


@dataclass(frozen=True)
class Question:
    """What is asked about rows."""

    keep: float | None  # the share of examples of known classes to be recognised; None: the unknown is not asked for
    early: bool = False  # by the newest version, settled or not


@dataclass(frozen=True, eq=False)
class _Request:
    items: Sequence[Any]
    question: Question | None  # None: only features are wanted
    future: Future[Any] = field(default_factory=Future)


def judged(snapshot: Snapshot, x: NDArray[Any], keep: float | None) -> Judged | Ranked:
    """Return what a version says of rows of features."""
    assert snapshot.classifier is not None
    learner, version = snapshot.classifier.learner, snapshot.version
    if snapshot.settled:
        return Judged(version, *learner.judged(x, keep=keep))
    return Ranked(version, learner.classes_, learner.scores(x))


class Gatherer(threading.Thread):
    """The one thread that runs the network and the model for everybody.

    Parameters
    ----------
    encoder : Encoder
        What makes features.
    snapshot : callable
        Returns the version of the model that answers now, given whether it may be early.
    """

    def __init__(self, encoder: Encoder, snapshot: Callable[..., Snapshot]) -> None:
        super().__init__(name="anacp-gatherer", daemon=True)
        self._encoder, self._snapshot = encoder, snapshot
        self._waiting: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._rows: OrderedDict[bytes, Row] = OrderedDict()
        self.n_batches = self.n_items = 0

    def see(self, items: Sequence[Any]) -> Future[Seen]:
        """Have items turned into features."""
        return self._put(_Request(items, None))

    def judge(self, items: Sequence[Any], question: Question) -> Future[tuple[Seen, Judged | Ranked | None]]:
        """Have items answered; nothing is said where none can be read."""
        return self._put(_Request(items, question))

    def _put(self, request: _Request) -> Future[Any]:
        self._waiting.put(request)
        return request.future

    def stop(self) -> None:
        """Do what waits, and end."""
        self._waiting.put(None)
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """Take what waits, as one batch, again and again."""
        with suppress(Exception):  # said to the first who asks
            self._encoder.parts  # noqa: B018 (loaded before anybody waits for it)
        while (first := self._waiting.get()) is not None:
            batch, ending = [first], False
            while sum(len(one.items) for one in batch) < MOST and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    ending = True
                    break
                batch.append(more)
            self._answer([one for one in batch if one.future.set_running_or_notify_cancel()])
            if ending:
                return

    def _answer(self, batch: Sequence[_Request]) -> None:
        try:
            found = self._computed(batch)
        except Exception as problem:
            if len(batch) > 1:  # what is wrong with one is not said to the others
                for one in batch:
                    self._answer([one])
                return
            for one in batch:
                one.future.set_exception(problem)
            return
        for one, answer in zip(batch, found, strict=True):
            one.future.set_result(answer)

    def _computed(self, batch: Sequence[_Request]) -> list[Any]:
        items = [item for one in batch for item in one.items]
        seen = self._seen(items)
        self.n_batches, self.n_items = self.n_batches + 1, self.n_items + len(items)
        starts = np.cumsum([0, *(len(one.items) for one in batch)])
        parts = [Seen(seen.digests[a:b], seen.rows[a:b], seen.problems[a:b]) for a, b in pairwise(starts)]
        asked = {
            question: self._judged(
                [part for one, part in zip(batch, parts, strict=True) if one.question == question], question
            )
            for question in {one.question for one in batch}
            if question is not None
        }
        return [
            part if one.question is None else (part, next(asked[one.question]))
            for one, part in zip(batch, parts, strict=True)
        ]

    def _judged(self, parts: Sequence[Seen], question: Question) -> Iterator[Judged | Ranked | None]:
        """Return what is said of each part, of all by one version."""
        snapshot = self._snapshot(early=question.early)
        if snapshot.classifier is None:
            raise NotLearnedError(
                snapshot.problem or "Expected a model that has learned something, got none. Teach it first."
            )
        rows = [[row for row in part.rows if row is not None] for part in parts]
        every = [row for some in rows for row in some]
        if not every:
            return iter([None] * len(parts))
        said = judged(snapshot, np.stack(every), question.keep)
        starts = np.cumsum([0, *map(len, rows)])
        return iter([said.rows(slice(a, b)) if b > a else None for a, b in pairwise(starts)])

    def _seen(self, items: Sequence[Any]) -> Seen:
        digests: dict[int, bytes] = {}
        wanted: set[bytes] = set()

        def is_new(position: int, digest: bytes) -> bool:
            digests[position] = digest
            new = digest not in self._rows and digest not in wanted
            wanted.add(digest)
            return new

        found = self._encoder.encode(items, on_error="skip", wanted=is_new)
        known = {digest: self._rows[digest] for digest in wanted if digest in self._rows}
        known |= {digest: row.copy() for digest, row in zip(found.digests, found.x, strict=True)}
        reasons = {id(item): reason for item, reason in found.skipped}
        by_digest = {
            digests[position]: reasons[id(item)]
            for position, item in enumerate(items)
            if position in digests and id(item) in reasons
        }
        for digest, row in known.items():
            self._rows[digest] = row
            self._rows.move_to_end(digest)
        while len(self._rows) > REMEMBERED:
            self._rows.popitem(last=False)
        rows = [known.get(digests.get(position, b"")) for position in range(len(items))]
        problems = [
            "" if rows[position] is not None else reasons.get(id(item)) or by_digest.get(digests.get(position, b""), "")
            for position, item in enumerate(items)
        ]
        return Seen([digests.get(position, b"") for position in range(len(items))], rows, problems)
