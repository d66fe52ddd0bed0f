"""Examples that are given to be learned or forgotten: which of them count, each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.encoders import Encoded
from anacp.errors import InputError
from anacp.items import as_items
from anacp.labels import Labels, label_array
from anacp.learners import check_kind, label_kind
from anacp.methods.conflicts import Conflicts, OnConflict
from anacp.methods.learned_examples import LearnedExamples
from anacp.methods.taught import Taught


def checked_examples(inputs: Sequence[Any], labels: ArrayLike, taught: Taught) -> tuple[list[Any], Labels]:
    """Return items and labels, or say what is wrong with them."""
    items, names = as_items(inputs), label_array(labels)
    if names.shape != (len(items),):
        raise InputError(f"Expected one label for each of the {len(items)} inputs, got labels of shape {names.shape}.")
    if isinstance(labels, list | tuple) and len({label_kind(np.asarray(label)) for label in labels}) > 1:
        raise InputError("Expected labels of one kind, got a mixture. Convert them to one kind first.")
    if taught.learner._learned and len(items):
        check_kind(taught.classes, names)
    return items, names


class Lesson:
    """What is to be learned: what is new of it, and not of two classes."""

    def __init__(self, items: Sequence[Any], labels: Labels, learned: LearnedExamples, on_conflict: OnConflict) -> None:
        self._labels, self._names, self._learned, self._on_conflict = labels, labels.tolist(), learned, on_conflict
        self._given: set[tuple[Any, bytes]] = set()
        self.conflicts = Conflicts(items, self._names, learned)

    def is_new(self, position: int, digest: bytes) -> bool:
        """Say whether the features of an example are needed."""
        example = self._names[position], digest
        again = example in self._given
        self._given.add(example)
        is_clear = self.conflicts.is_clear(position, digest) or self._on_conflict == "keep"
        is_wanted = is_clear and not (self.conflicts.found and self._on_conflict == "refuse")
        return is_wanted and not again and not self._learned.holds(*example)

    def check(self) -> None:
        """Refuse content of two classes, if that is to be refused."""
        if self.conflicts.found and self._on_conflict == "refuse":
            raise self.conflicts.error()

    @property
    def left_out(self) -> set[int]:
        """Positions of what is of two classes, if that is to be skipped."""
        return self.conflicts.positions if self._on_conflict == "skip" else set()

    def fresh(self, found: Encoded, learned: LearnedExamples) -> NDArray[np.intp]:
        """Return the rows to be learned; another thread may have learned some since they were looked for."""
        is_fresh = ~learned.contains(self._labels[found.kept], found.digests)
        return np.flatnonzero(is_fresh & ~np.isin(found.kept, list(self.left_out)))


class Recall:
    """What is to be forgotten: what was learned of it."""

    def __init__(self, items: Sequence[Any], labels: Labels, learned: LearnedExamples) -> None:
        self._items, self._labels, self._names, self._learned = items, labels, labels.tolist(), learned
        self._given: set[tuple[Any, bytes]] = set()
        self.unknown: list[int] = []  # positions of what was not

    def is_known(self, position: int, digest: bytes) -> bool:
        """Say whether the features of an example are needed."""
        example = self._names[position], digest
        again, known = example in self._given, self._learned.holds(*example)
        self._given.add(example)
        self.unknown.extend([] if known else [position])
        return known and not again

    def held(self, found: Encoded, learned: LearnedExamples) -> NDArray[np.intp]:
        """Return the rows to be forgotten; another thread may have forgotten some since they were looked for."""
        held = learned.contains(self._labels[found.kept], found.digests)
        self.unknown += found.kept[~held].tolist()
        return np.flatnonzero(held)

    def check(self) -> None:
        """Refuse what was not learned."""
        if self.unknown:
            row = self.unknown[0]
            raise InputError(
                f"Expected examples learned before, got {len(self.unknown)} that were not, such as {self._items[row]} "
                f"as {self._names[row]!r}. Leave them out, or have them passed over: --on-unknown skip (in Python "
                "on_unknown='skip')."
            )
