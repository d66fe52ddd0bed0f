"""One pass from items to features: each item is read once, looked up, and computed only if that must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from anacp.backbones import Arrays, read_ahead
from anacp.errors import ImageError
from anacp.items import OnError, bad_images, hold
from anacp.progress import Progress, Report

if TYPE_CHECKING:
    from anacp.backbones import Backbone, ExportedBackbone
    from anacp.encoders.store import FeatureStore

Wanted = Callable[[int, bytes], bool]
AT_ONCE = 8  # items that a thread reads before it hands them on: photos are large, and wait in memory
WORKERS = 4  # reading and hashing release the interpreter


@dataclass(frozen=True)
class Encoded:
    """Features, and what became of each item."""

    x: NDArray[np.float32]  # (k, d)
    kept: NDArray[np.intp]  # (k,) positions of the rows among the items, ascending
    digests: list[bytes]  # k, of the items' content
    skipped: list[tuple[Any, str]]  # item and reason
    seconds: float  # what the features cost, those found in a store when they were computed
    cut: NDArray[np.intp]  # positions of texts longer than the network reads, of which it saw the beginning
    foreign: NDArray[np.intp]  # positions of texts that do not look like the language that the network was made for


@dataclass
class Passing:
    """An item on its way: read, then looked up and decoded, then computed."""

    position: int
    digest: bytes = b""
    source: Any = None
    problem: ImageError | None = None
    rows: dict[int, NDArray[np.float32]] = field(default_factory=dict)  # computed, by the number of the part
    seconds: float = 0.0  # what the rows that were found took when they were computed
    arrays: Arrays = field(default_factory=dict)
    cut: bool = False
    foreign: bool = False


class EncodingPass:
    """Items on their way through the parts of an encoder.

    Threads read and digest; the caller's thread asks `wanted`, in the order of the items; more threads look up what is
    wanted, and decode what is not there; the caller's thread runs the network.
    """

    def __init__(
        self,
        parts: Sequence[Backbone | ExportedBackbone],
        items: Sequence[Any],
        *,
        store: FeatureStore | None,
        on_error: OnError,
        wanted: Wanted | None,
    ) -> None:
        self._parts, self._items = parts, items
        self._numbered = list(enumerate(parts))
        self._stored = [store.features(cast("Backbone", part).whole) for part in parts] if store is not None else []
        self._on_error, self._wanted = on_error, wanted
        self._x = np.empty((len(items), sum(part.n_features for part in parts)), np.float32)
        self._kept: list[int] = []
        self._digests: list[bytes] = []
        self._skipped: list[tuple[Any, str]] = []
        self._problems: list[ImageError] = []  # that refuse the whole
        self._cut: list[int] = []
        self._foreign: list[int] = []
        self._clock = perf_counter()
        self._seconds = 0.0

    def run(self, report: Report | None) -> Encoded:
        """Return the features of all items that are wanted and can be read."""
        groups = read_ahead(self._prepared, self._chosen(), workers=self._parts[0].reader.workers)
        try:
            for number, group in enumerate(groups, 1):
                self._take(group)
                if report is not None:
                    done = min(number * AT_ONCE, len(self._items))
                    report(Progress("features", done, len(self._items), len(self._skipped)))
            if self._problems:
                raise bad_images(self._problems)
        finally:  # what was computed stays, whatever happened
            for stored in self._stored:
                stored.flush()
        kept = np.array(self._kept, np.intp)
        x = self._x if len(kept) == len(self._x) else self._x[kept]
        cut, foreign = np.array(self._cut, np.intp), np.array(self._foreign, np.intp)
        return Encoded(x, kept, self._digests, self._skipped, self._seconds, cut, foreign)

    def _chosen(self) -> Iterator[list[Passing]]:
        """Yield the items that are wanted, a few at a time, read and digested by threads that are ahead."""
        for group in read_ahead(self._read, range(0, len(self._items), AT_ONCE), workers=WORKERS):
            yield [
                one for one in group if one.problem or self._wanted is None or self._wanted(one.position, one.digest)
            ]

    def _read(self, start: int) -> list[Passing]:
        group = [Passing(place) for place in range(start, min(start + AT_ONCE, len(self._items)))]
        for one in group:
            try:
                held = hold(self._items[one.position], self._parts[0].modality, one.position)
                one.digest, one.source = held.digest, held.source
            except ImageError as problem:
                one.problem = problem
        return group

    def _prepared(self, group: list[Passing]) -> list[Passing]:
        for one in group:
            if one.problem is None:
                self._look_up(one)
                if len(one.rows) < len(self._parts):
                    self._decode(one)
            one.source = None  # the bytes of a file need not wait for the network
        return group

    def _look_up(self, one: Passing) -> None:
        for number, stored in enumerate(self._stored):
            row = stored.get(one.digest)
            if row is not None:
                one.rows[number] = row
                one.seconds += stored.seconds(one.digest)

    def _decode(self, one: Passing) -> None:
        try:
            one.arrays = self._parts[0].reader.read([one.source])
            one.cut = self._parts[0].reader.is_cut(one.source, one.arrays)
            one.foreign = self._parts[0].reader.is_foreign(one.source, one.arrays)
        except ImageError as problem:
            one.problem = problem

    def _take(self, group: list[Passing]) -> None:
        for one in group:
            if one.problem is not None and self._on_error == "refuse":
                self._problems.append(one.problem)
            elif one.problem is not None:
                self._skipped.append((self._items[one.position], str(one.problem)))
        if self._problems:
            return  # all that cannot be read are found and named together; the network need not run for that
        readable = [one for one in group if one.problem is None]
        self._compute(readable)
        for one in readable:
            rows = (part.view(one.rows[number]) if part.view else one.rows[number] for number, part in self._numbered)
            self._x[one.position] = np.concatenate(list(rows))
            self._kept.append(one.position)
            self._digests.append(one.digest)
            self._cut.extend([one.position] if one.cut else [])
            self._foreign.extend([one.position] if one.foreign else [])
            self._seconds += one.seconds

    def _compute(self, group: list[Passing]) -> None:
        """Fill in the rows that are missing, and store them with their share of the time since the last ones."""
        missing = [[one for one in group if number not in one.rows] for number in range(len(self._parts))]
        for number, part in enumerate(self._parts):
            for start in range(0, len(missing[number]), part.batch_size):
                batch = missing[number][start : start + part.batch_size]
                for one, row in zip(batch, part.compute(_together(batch)), strict=True):
                    one.rows[number] = row
        spent, self._clock = perf_counter() - self._clock, perf_counter()
        self._seconds += spent
        for number, stored in enumerate(self._stored):
            for one in missing[number]:
                stored.add(one.digest, one.rows[number], spent / sum(map(len, missing)))


def _together(batch: list[Passing]) -> Arrays:
    return {name: np.concatenate([one.arrays[name] for one in batch]) for name in batch[0].arrays}
