"""One moment of what is known, and what a change of it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anacp.errors import InputError
from anacp.methods import Classifier
from anacp.serve.records import Event, Move, Stack

LONGEST_LABEL = 200


@dataclass(frozen=True, eq=False)
class State:
    """One moment: a version, the classifier of it, and which events hold."""

    version: int
    classifier: Classifier
    stack: Stack
    floor: int = 0  # events that are not taken back: those up to a model file that came from elsewhere

    @property
    def can_undo(self) -> int:
        """How many changes can be taken back."""
        return len(self.stack.done) - self.floor


@dataclass(frozen=True)
class Change:
    """What a change did."""

    version: int
    new: int = 0
    known: int = 0
    forgotten: int = 0
    moved: Sequence[Move] = ()  # from one class into another
    event: Event | None = None  # none: there was nothing to do


def check_label(label: str) -> None:
    """Refuse what cannot be the name of a class."""
    if not label.strip() or len(label) > LONGEST_LABEL or "\x00" in label or not label.isprintable():
        raise InputError(
            f"Expected a label of 1 to {LONGEST_LABEL} printable characters, got {label[:LONGEST_LABEL]!r}. "
            "Choose another."
        )
