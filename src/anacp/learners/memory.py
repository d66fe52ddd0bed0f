"""What a learner remembers: classes, their statistics, and rows that wait to enter them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import torch
from torch import Tensor

from anacp.errors import InputError, NumericalError
from anacp.files import TensorFile
from anacp.labels import Labels
from anacp.statistics import LARGEST_DOUBT, NOTHING_LEFT, ClassMoments, ClassRows, Features, Statistic, coded, decoded
from anacp.threads import OwnLock
from anacp.words import format_bytes, listed

# Rows that wait before they enter the statistics together: then learning one example at a time costs no more than
# learning in batches, and copying the large matrices little beside adding to them.
WAITING_ROWS = 4096
# What products with a random matrix and sums over rows may add to the scale of a row, up or down.
HEADROOM = 1e-9


@dataclass(frozen=True)
class StoredPart:
    """One stored tensor: how many numbers, how many bytes."""

    name: str
    numbers: int
    bytes: int


class UnreadStatistics(Mapping[str, Statistic]):
    """The statistics of a model file, each read when it is needed first."""

    def __init__(
        self,
        file: TensorFile,
        outlines: Mapping[str, Statistic],
        device: str,
        read: Callable[[str], Mapping[str, Tensor]],  # the tensors of a statistic, checked
    ) -> None:
        self._file, self.outlines, self._device, self._read_tensors = file, outlines, device, read
        self._read: dict[str, Statistic] = {}
        self._lock = OwnLock()

    def __getitem__(self, name: str) -> Statistic:
        with self._lock:
            if name not in self._read:
                tensors = {part: tensor.to(self._device) for part, tensor in self._read_tensors(name).items()}
                try:
                    self._read[name] = decoded(self.outlines[name], tensors, self._moments)
                except (KeyError, ValueError, RuntimeError) as problem:
                    raise self._file.damage(f"{name} is not whole: {problem}") from problem
            return self._read[name]

    def _moments(self) -> ClassMoments:
        return cast(ClassMoments, self["moments"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.outlines)

    def __len__(self) -> int:
        return len(self.outlines)

    def __reduce__(self) -> Any:  # an open file cannot be copied
        return dict, (dict(self),)


@dataclass(frozen=True, eq=False)
class Memory:
    """Statistics indexed by sorted labels, so that the order of arrival leaves no trace.

    A memory is a value: learning, unlearning and merging return another one, and what fails has changed nothing.
    """

    statistics: Mapping[str, Statistic]
    indexed: Labels  # the classes that the statistics know, sorted
    device: str
    waiting: tuple[tuple[Tensor, Labels, Tensor | None], ...] = ()

    @cached_property
    def classes(self) -> Labels:
        """All classes that were learned, sorted."""
        return np.unique(np.concatenate([self.indexed, *(labels for _, labels, _ in self.waiting)]))

    @property
    def moments(self) -> ClassMoments:
        """The class moments that every learner keeps."""
        return cast(ClassMoments, self.statistics["moments"])

    def features(self, name: str) -> Any:
        """Return what a statistic turns rows into; for this alone no file is read."""
        outlines: Mapping[str, Any] = getattr(self.statistics, "outlines", self.statistics)
        return cast(Features, outlines[name].features)

    def learned(self, x: Tensor, labels: Labels, weights: Tensor | None = None) -> Self:
        """Return the memory of these rows (n, d) as well, each as much as it counts."""
        self._check_countable(weights)
        grown = replace(self, waiting=(*self.waiting, (x, labels, weights)))
        enough = sum(len(rows) for rows, _, _ in grown.waiting) >= WAITING_ROWS
        return grown.absorbed() if enough or _is_extreme(x) else grown

    def absorbed(self) -> Self:
        """Return the same memory with no row waiting."""
        if not self.waiting:
            return self
        rows, labels, weights = zip(*self.waiting, strict=True)
        joined = None
        if any(one is not None for one in weights):
            ones = (torch.ones(len(x), dtype=torch.int64, device=x.device) for x in rows)
            joined = torch.cat([one if own is None else own for own, one in zip(weights, ones, strict=True)])
        return self._changed(torch.cat(rows), np.concatenate(labels), joined, self.classes, sign=1)

    def unlearned(self, x: Tensor, labels: Labels, weights: Tensor | None = None) -> Self:
        """Return the memory without these rows; a class whose last row goes is forgotten."""
        self._check_countable(weights)
        whole = self.absorbed()
        whole._check_held(labels, weights)
        less = whole._changed(x, labels, weights, whole.classes, sign=-1)
        less._check_exact(labels)
        _check_range(less.statistics)
        return less._at(less.classes[less.moments.counts.cpu().numpy() > 0])

    def without(self, label: object, method: str) -> Self:
        """Return the memory without a class whose rows are not given, if nothing is pooled or if all rows are kept."""
        if label not in self.classes.tolist():
            raise InputError(f"Expected a class learned before, got {label!r}. Known: {listed(self.classes.tolist())}.")
        whole = self.absorbed()
        kept = [one for one in whole.statistics.values() if isinstance(one, ClassRows) and one.fold == "all"]
        if kept:
            rows = kept[0].rows[kept[0].classes == int(np.flatnonzero(whole.classes == label)[0])]
            return whole.unlearned(rows, np.repeat(whole.classes[whole.classes == label], len(rows)))
        pooled = [name for name, statistic in whole.statistics.items() if not statistic.separable]
        if pooled:
            raise InputError(
                f"Expected a method that keeps every class apart, got {method}, which pools all classes in "
                f"{', '.join(pooled)}. To forget {label!r} exactly, unlearn its examples."
            )
        return whole._at(whole.classes[whole.classes != label])

    def __add__(self, other: Self) -> Self:
        classes = np.union1d(self.classes, other.classes)
        mine, theirs = (memory.absorbed()._at(classes).statistics for memory in (self, other))
        both = {name: mine[name] + theirs[name] for name in mine}
        _check_range(both)
        return replace(self, statistics=both, indexed=classes, waiting=())

    def tensors(self, *, ridges: Mapping[str, float] | None = None) -> dict[str, Tensor]:
        """Return everything to be saved, by name.

        With `ridges`, what is worth it is coded in fewer bits: a Gram matrix if it is said with which λ it is solved.
        """
        whole = self.absorbed()
        stored: dict[str, Tensor] = {}
        for name, statistic in whole.statistics.items():
            parts = None if ridges is None else coded(statistic, whole.moments, ridges.get(name))
            parts = statistic.tensors() if parts is None else parts
            stored |= {f"{name}.{part}": tensor for part, tensor in parts.items()}
        return stored

    def parts(self) -> list[StoredPart]:
        """Return what is stored, part by part."""
        return stored_parts({name: one.outline() for name, one in self.absorbed().statistics.items()})

    def _changed(self, x: Tensor, labels: Labels, weights: Tensor | None, classes: Labels, *, sign: int) -> Self:
        indices = torch.from_numpy(np.searchsorted(classes, labels)).to(self.device)
        indexed = self._at(classes).statistics
        changed = {name: one.plus(x, indices, weights=weights, sign=sign) for name, one in indexed.items()}
        if sign > 0:
            _check_range(changed)
        return replace(self, statistics=changed, indexed=classes, waiting=())

    def relabelled(self, names: Labels) -> Self:
        """Return the memory with class i called names[i] (c,); those that get one name become one class."""
        classes, places = np.unique(names, return_inverse=True)
        whole, where = self.absorbed(), torch.from_numpy(places).to(self.device)
        every = torch.arange(len(names), device=self.device)
        moved = {
            name: one.at(every, where, len(classes)) if len(classes) == len(names) else one.joined(where, len(classes))
            for name, one in whole.statistics.items()
        }
        _check_range(moved)
        return replace(whole, statistics=moved, indexed=classes)

    def _at(self, classes: Labels) -> Self:
        """Return the memory of these classes; those no longer wanted are dropped."""
        kept = np.flatnonzero(np.isin(self.indexed, classes))
        places = np.searchsorted(classes, self.indexed[kept])
        sources, destinations = (torch.from_numpy(indices).to(self.device) for indices in (kept, places))
        moved = {name: one.at(sources, destinations, len(classes)) for name, one in self.statistics.items()}
        return replace(self, statistics=moved, indexed=classes)

    def _check_exact(self, labels: Labels) -> None:
        """Refuse what would leave rounding error instead of what was there before."""
        touched = np.searchsorted(self.classes, np.unique(labels))
        left = touched[self.moments.counts.cpu().numpy()[touched] > 0]
        doubts = {name: one.doubt(torch.from_numpy(left).to(self.device)) for name, one in self.statistics.items()}
        name = max(doubts, key=lambda name: doubts[name])
        if not doubts[name] <= LARGEST_DOUBT:
            raise NumericalError(
                f"Expected to leave at most {LARGEST_DOUBT:g} of rounding error by unlearning, got {doubts[name]:.2g} "
                f"of what is left in {name}: what goes is so much larger than what stays. Learn what stays anew with "
                "`fit`; dtype='float64' or features of one length (normalize=True) avoid this. Nothing has changed."
            )

    def _check_countable(self, weights: Tensor | None) -> None:
        """Refuse parts of rows where rows themselves are kept."""
        if weights is None or not weights.is_floating_point():
            return
        held = self.statistics.outlines if isinstance(self.statistics, UnreadStatistics) else self.statistics
        if any(one.counts_whole_rows for one in held.values()):
            raise InputError(
                "Expected whole numbers as sample_weight, because this method keeps the rows themselves, got others. "
                "Round them, or choose a method or a `ridge` that keeps sums only."
            )

    def _check_held(self, labels: Labels, weights: Tensor | None) -> None:
        unknown = np.setdiff1d(labels, self.classes)
        if len(unknown):
            got = listed(unknown.tolist())
            raise InputError(f"Expected labels learned before, got {got}. Check the labels to unlearn.")
        removed, codes = np.unique(labels, return_inverse=True)
        counts = np.bincount(codes, None if weights is None else weights.cpu().numpy())
        held = self.moments.counts.cpu().numpy()[np.searchsorted(self.classes, removed)]
        for label, wanted, available in zip(removed.tolist(), counts, held, strict=True):
            if wanted > available * (1 + NOTHING_LEFT):
                raise InputError(
                    f"Expected at most {available:.9g} examples of {label!r}, as many as were learned, got "
                    f"{wanted:.9g}. Unlearn each example once."
                )


def _check_range(statistics: Mapping[str, Statistic]) -> None:
    for statistic in statistics.values():
        statistic.check_range()


def _is_extreme(x: Tensor) -> bool:
    """Say whether squares of these rows' features may leave their precision: such rows are refused at once or never."""
    largest, limits = float(x.abs().max()), torch.finfo(x.dtype)
    return bool(largest > HEADROOM * limits.max**0.5 or 0 < largest < limits.tiny**0.5 / HEADROOM)


def stored_parts(outlines: Mapping[str, Statistic]) -> list[StoredPart]:
    """Return the sizes of statistics; symmetric matrices count their distinct numbers, as in a model file."""
    return [
        StoredPart(f"{name} {part}", tensor.numel(), tensor.numel() * tensor.element_size())
        for name, statistic in outlines.items()
        for part, tensor in statistic.tensors().items()
    ]


def summary_table(title: str, parts: Sequence[StoredPart], rebuilt: Mapping[str, int]) -> str:
    """Return an aligned table with its total, and what is rebuilt instead of stored."""
    total = StoredPart("total stored", sum(p.numbers for p in parts), sum(p.bytes for p in parts))
    width = max(len(p.name) for p in (*parts, total))
    rows = [f"{p.name:<{width}}  {p.numbers:>14,}  {format_bytes(p.bytes):>8}" for p in (*parts, total)]
    head = f"{'part':<{width}}  {'numbers':>14}  {'size':>8}"
    rule = "-" * len(head)
    notes = ["not stored, rebuilt when needed:"] if rebuilt else []
    notes += [f"  {name}: {numbers:,} numbers" for name, numbers in rebuilt.items()]
    return "\n".join([title, rule, head, rule, *rows[:-1], rule, rows[-1], *notes])
