"""What a journal holds, as values: contents, moves of them between classes, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Digest = bytes  # 16, of a content
What = Literal["learn", "forget", "relabel", "rename", "join", "merge", "open", "undo", "redo"]


@dataclass(frozen=True, eq=False)
class Content:
    """A text or a picture, as far as it is kept: what to show of it, and what the model sees of it."""

    digest: Digest
    name: str
    text: str | None
    thumbnail: bytes | None  # JPEG
    features: NDArray[np.float32]  # (d,)


@dataclass(frozen=True)
class Move:
    """A content that comes into a class, leaves one, or both."""

    digest: Digest
    before: str | None
    after: str | None

    @property
    def back(self) -> Move:
        """The move that undoes this one."""
        return Move(self.digest, self.after, self.before)


@dataclass(frozen=True)
class Event:
    """One change of what is known, by its number: the version of the model that it makes."""

    version: int
    what: What
    happened: str
    n: int
    classes: Sequence[str]
    detail: Mapping[str, Any] = field(default_factory=dict)  # of a rename: old, new; of a join: labels, into
    of: int | None = None  # which event an undo or redo is about


@dataclass(frozen=True)
class Example:
    """A content that was learned, or waits in the pile (then without a label)."""

    digest: Digest
    label: str | None
    name: str
    text: str | None

    @property
    def id(self) -> str:
        """Its digest, in hexadecimal."""
        return self.digest.hex()


@dataclass(frozen=True)
class Stack:
    """Which events hold now, in order, and which were taken back and may come again."""

    done: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()  # the next to come again is the last

    def after(self, event: Event) -> Stack:
        """Return the stack once another event happened."""
        if event.what == "undo":
            return Stack(self.done[:-1], (*self.undone, self.done[-1]))
        if event.what == "redo":
            return Stack((*self.done, self.undone[-1]), self.undone[:-1])
        return Stack((*self.done, event.version))

    @classmethod
    def of(cls, events: Sequence[Event]) -> Stack:
        """Return the stack after some events, from the first on."""
        stack = cls()
        for event in events:
            stack = stack.after(event)
        return stack
