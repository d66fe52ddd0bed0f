"""What threads did to one model, and whether what they saw is a state that the model can have had just then."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count, product
from typing import Any

import numpy as np

Batch = int
Contents = frozenset[Batch]

MOST_TRIED = 1000  # states that are solved to explain one answer


@dataclass(frozen=True)
class Change:
    """A write: when it began and ended, in numbers that all threads draw from, and what holds from then on."""

    begin: int
    end: int
    value: Any


@dataclass(frozen=True)
class Read:
    """A read, and what it brought: `kind` says what was asked."""

    begin: int
    end: int
    kind: str
    answer: np.ndarray
    extra: Contents  # batches that are in the answer whatever the model held
    words: str


@dataclass
class History:
    """All that happened, to be judged when it is over."""

    changes: dict[Batch, list[Change]] = field(default_factory=dict)  # of each batch, by the one thread that has it
    values: list[Change] = field(default_factory=list)  # of the parameter
    reads: list[Read] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # unlearning that would have left too much rounding error
    ticket: Any = field(default_factory=count)

    def now(self) -> int:
        return next(self.ticket)


def possible(changes: Iterable[Change], first: Any, begin: int, end: int) -> list[Any]:
    """Return what can have held at some moment between two others; changes are in order and never overlap."""
    values = [first]
    for change in changes:
        if change.end < begin:
            values = [change.value]
        elif change.begin <= end:
            values.append(change.value)
    return list(dict.fromkeys(values))


def explained(
    read: Read,
    history: History,
    value: Any,
    plausible: Callable[[Read, Contents], bool],
    fits: Callable[[Read, Contents, Any], bool],
) -> bool | None:
    """Say whether there is a state, allowed by the order of events, that gives this answer; None if there are too many.

    `plausible` is asked first, since `fits` solves a model.
    """
    batches = sorted(history.changes)
    choices = [possible(history.changes[batch], False, read.begin, read.end) for batch in batches]
    values = possible(history.values, value, read.begin, read.end)
    tried = 0
    for one, *held in product(values, *choices):
        contents = frozenset(batch for batch, inside in zip(batches, held, strict=True) if inside) | read.extra
        if not plausible(read, contents):
            continue
        if fits(read, contents, one):
            return True
        tried += 1
        if tried == MOST_TRIED:
            return None
    return False
