"""What a learner remembers: classes, their statistics, and rows that wait to enter them."""

from typing import Any, Self, cast

import numpy as np
import torch
from torch import Tensor

from anacp.errors import InputError
from anacp.files import TensorFile
from anacp.learners.inputs import Labels
from anacp.statistics import ClassMoments, ClassRows, Features, Statistic
from anacp.statistics.base import BLOCK_ROWS

__all__ = ["Memory", "listed"]


class Memory:
    """Statistics indexed by sorted labels, so that the order of arrival leaves no trace.

    Rows wait until a block is full: learning one example at a time then costs no more than learning in batches.
    Every change is all or nothing.

    Parameters
    ----------
    statistics : dict of Statistic
        As they are; or empty, if a file has their numbers.
    classes : ndarray
        All classes that were learned, sorted.
    indexed : ndarray
        Those that the statistics know; the others are still waiting.
    device : str
        Where the statistics are.
    file : TensorFile, optional
        Where their numbers are read from when they are needed first.
    """

    def __init__(
        self,
        statistics: dict[str, Statistic],
        classes: Labels,
        indexed: Labels,
        device: str,
        file: TensorFile | None = None,
    ) -> None:
        self.classes = classes
        self.indexed = indexed
        self.device = device
        self.waiting: list[tuple[Tensor, Labels]] = []
        self._held = statistics
        self._file = file

    @property
    def statistics(self) -> dict[str, Statistic]:
        """The statistics by name."""
        if self._file is not None:
            for name, statistic in self._held.items():
                tensors = self._file.tensors(f"{name}.")
                statistic.load_({part: tensor.to(self.device) for part, tensor in tensors.items()})
            self._file = None
        return self._held

    @statistics.setter
    def statistics(self, statistics: dict[str, Statistic]) -> None:
        self._held = statistics

    def features(self, name: str) -> Features:
        """Return what a statistic turns rows into; for this alone no file is read."""
        return cast(Features, self._held[name].features)  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        self.statistics  # noqa: B018 (an open file cannot be copied)
        return self.__dict__

    @property
    def moments(self) -> ClassMoments:
        """The class moments that every learner keeps."""
        moments = self.statistics["moments"]
        assert isinstance(moments, ClassMoments)
        return moments

    def learn(self, x: Tensor, labels: Labels) -> None:
        """Remember rows (n, d) and their labels."""
        before = self.waiting, self.classes
        self.waiting = [*self.waiting, (x, labels)]
        self.classes = np.union1d(self.classes, labels)
        try:
            if sum(len(rows) for rows, _ in self.waiting) >= BLOCK_ROWS:
                self.absorb()
        except BaseException:
            self.waiting, self.classes = before
            raise

    def absorb(self) -> None:
        """Move the waiting rows into the statistics."""
        if self.waiting:
            x = torch.cat([rows for rows, _ in self.waiting])
            self._accumulate(x, np.concatenate([labels for _, labels in self.waiting]), sign=1)
            self.waiting = []

    def unlearn(self, x: Tensor, labels: Labels) -> None:
        """Take rows out again; a class whose last row goes is forgotten."""
        self.absorb()
        self._check_held(labels)
        self._accumulate(x, labels, sign=-1)
        left = self.classes[self.moments.counts.cpu().numpy() > 0]
        self.statistics = self._at(left)
        self.classes = self.indexed = left

    def unlearn_class(self, label: object, method: str) -> None:
        """Take a class out without being given its rows, if nothing is pooled or if all rows are kept."""
        if label not in self.classes.tolist():
            raise InputError(f"Expected a class learned before, got {label!r}. Known: {listed(self.classes)}.")
        self.absorb()
        left = self.classes[self.classes != label]
        kept = [s for s in self.statistics.values() if isinstance(s, ClassRows) and s.fold == "all"]
        pooled = [name for name, statistic in self.statistics.items() if not statistic.separable]
        if kept:
            rows = kept[0].rows[kept[0].classes == int(np.flatnonzero(self.classes == label)[0])]
            self.unlearn(rows, np.repeat(self.classes[self.classes == label], len(rows)))
        elif pooled:
            raise InputError(
                f"Expected a method that keeps every class apart, got {method}, which pools all classes in "
                f"{', '.join(pooled)}. To forget {label!r} exactly, unlearn its examples."
            )
        else:
            self.statistics = self._at(left)
            self.classes = self.indexed = left

    def merged(self, other: Self) -> Self:
        """Return the memory of both."""
        self.absorb()
        other.absorb()
        classes = np.union1d(self.classes, other.classes)
        theirs = other._at(classes)
        statistics = {name: statistic + theirs[name] for name, statistic in self._at(classes).items()}
        return type(self)(statistics, classes, classes, self.device)

    def _accumulate(self, x: Tensor, labels: Labels, *, sign: int) -> None:
        indices = torch.from_numpy(np.searchsorted(self.classes, labels)).to(self.device)
        updated = self._at(self.classes)
        done: list[Statistic] = []
        try:
            for statistic in updated.values():
                statistic.add_(x, indices, sign=sign)
                done.append(statistic)
        except BaseException:
            for statistic in done:  # what is not kept by class is shared with the statistics before
                statistic.add_(x, indices, sign=-sign)
            raise
        self.statistics, self.indexed = updated, self.classes

    def _at(self, classes: Labels) -> dict[str, Statistic]:
        """Return the statistics indexed by these classes; those no longer wanted are dropped."""
        kept = np.flatnonzero(np.isin(self.indexed, classes))
        places = np.searchsorted(classes, self.indexed[kept])
        sources, destinations = (torch.from_numpy(indices).to(self.device) for indices in (kept, places))
        return {name: statistic.at(sources, destinations, len(classes)) for name, statistic in self.statistics.items()}

    def _check_held(self, labels: Labels) -> None:
        unknown = np.setdiff1d(labels, self.classes)
        if len(unknown):
            raise InputError(f"Expected labels learned before, got {listed(unknown)}. Check the labels to unlearn.")
        removed, counts = np.unique(labels, return_counts=True)
        held = self.moments.counts.cpu().numpy()[np.searchsorted(self.classes, removed)]
        for label, wanted, available in zip(removed.tolist(), counts, held, strict=True):
            if wanted > available:
                raise InputError(
                    f"Expected at most {available} examples of {label!r}, as many as were learned, got {wanted}. "
                    "Unlearn each example once."
                )

    def tensors(self) -> dict[str, Tensor]:
        """Return everything to be saved, by name."""
        self.absorb()
        return {
            f"{name}.{part}": tensor
            for name, statistic in self.statistics.items()
            for part, tensor in statistic.tensors().items()
        }


def listed(labels: Labels) -> str:
    """Return the first few labels for a message."""
    shown = ", ".join(repr(label) for label in labels[:5].tolist())
    return shown if len(labels) <= 5 else f"{shown} and {len(labels) - 5} more"
