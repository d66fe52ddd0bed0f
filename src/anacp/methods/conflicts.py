"""One content as more than one class: a photo that lies in two folders, a text with two labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from anacp.errors import InputError
from anacp.methods.answers import Conflict
from anacp.methods.learned_examples import LearnedExamples
from anacp.words import LONGEST_PLACE, SKIPPING, listed

OnConflict = Literal["keep", "refuse", "skip"]
MOST_NAMED = 10


class Conflicts:
    """What was found so far among some items, each of which is looked at once, in order.

    Parameters
    ----------
    items : sequence
        What is given.
    labels : sequence
        Their labels.
    learned : LearnedExamples
        What is known already.

    Attributes
    ----------
    found : list of Conflict
        Each item that was given or learned as another class too.
    positions : set of int
        Of these items, and of those given before as something else.
    """

    def __init__(self, items: Sequence[Any], labels: Sequence[Any], learned: LearnedExamples) -> None:
        self._items, self._labels, self._learned = items, labels, learned
        self._given: dict[bytes, list[int]] = {}  # by content, the positions so far
        self.found: list[Conflict] = []
        self.positions: set[int] = set()

    def is_clear(self, position: int, digest: bytes) -> bool:
        """Say whether an item is of one class only, as far as is known now."""
        label, same = self._labels[position], self._given.setdefault(digest, [])
        same.append(position)
        if same[0] in self.positions or self._labels[same[0]] != label:
            other = next((self._labels[one] for one in same if self._labels[one] != label), None)
            self.positions |= set(same)
        else:
            learned = self._learned.label_of(digest)
            other = None if learned == label or self._learned.holds(label, digest) else learned
            self.positions |= set() if other is None else {position}
        if other is not None:
            self.found.append(Conflict(self._items[position], label, other))
        return position not in self.positions

    def error(self) -> InputError:
        """Return what refuses them all."""
        named = [f"{one.item} as {one.label!r} and as {one.other!r}" for one in self.found]
        return InputError(
            f"Expected one class for each content, got {len(named):,} with two: "
            f"{listed(named, MOST_NAMED, show=str, longest=LONGEST_PLACE)}. Remove those that are wrong (`forget` what "
            f"is learned already), or leave out all of them: {SKIPPING}."
        )
