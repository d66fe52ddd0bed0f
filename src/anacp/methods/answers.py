"""What became of the inputs that were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from anacp.errors import InputError, ParameterError
from anacp.items import LazyImage
from anacp.labels import Labels
from anacp.learners import or_unknown
from anacp.words import counted, visible

if TYPE_CHECKING:
    from anacp.encoders import Encoded

SHOWN, LONGEST = 20, 48  # rows of a table that is printed, and characters of a cell


class Conflict(NamedTuple):
    """An input whose content was given, or learned before, as another class too."""

    item: Any
    label: Any  # as which it is given now
    other: Any  # as which its content is known, or was given before


@dataclass(frozen=True)
class Learned:
    """What `Classifier.learn` did."""

    n_new: int  # examples learned now
    n_known: int  # learned before, or given twice: left out
    new_classes: list[Any]
    skipped: list[tuple[Any, str]] = field(default_factory=list)  # input and reason
    conflicts: list[Conflict] = field(default_factory=list)  # one content as more than one class
    cut: list[Any] = field(default_factory=list)  # texts longer than the network reads: it saw their beginning
    foreign: list[Any] = field(default_factory=list)  # texts that do not look like the network's language
    feature_seconds: float = 0.0
    learn_seconds: float = 0.0
    layer_choice: str | None = None  # which layers were chosen now, and why


@dataclass(frozen=True)
class Forgotten:
    """What `Classifier.forget` did."""

    n_forgotten: int
    n_unknown: int  # given, but not in the model
    lost_classes: list[Any]  # whose last example went
    feature_seconds: float = 0.0
    skipped: list[tuple[Any, str]] = field(default_factory=list)  # input and reason


@dataclass(frozen=True, eq=False)
class Answers:
    """Probabilities of the inputs that could be read, and what is wrong with the others."""

    classes: Labels  # (c,) sorted
    probabilities: NDArray[Any]  # (k, c)
    kept: NDArray[np.intp]  # (k,) positions of the rows among the inputs
    skipped: list[tuple[Any, str]] = field(default_factory=list)  # input and reason
    digests: list[bytes] = field(default_factory=list)  # k, of the inputs' content
    inputs: list[str] = field(default_factory=list)  # k, what to call them; by number if nothing is said
    cut: list[Any] = field(default_factory=list)  # texts longer than the network reads: it saw their beginning
    foreign: list[Any] = field(default_factory=list)  # texts that do not look like the network's language
    familiarity: NDArray[Any] | None = None  # (k,), if it was asked for: negative for what is none of the classes

    @classmethod
    def of(
        cls,
        items: Sequence[Any],
        found: Encoded,
        classes: Labels,
        probabilities: NDArray[Any],
        familiarity: NDArray[Any] | None,
    ) -> Self:
        """Return what was found out about items by their features."""
        return cls(
            classes,
            probabilities,
            found.kept,
            found.skipped,
            found.digests,
            inputs=[name_of(items[position], position) for position in found.kept],
            cut=[items[position] for position in found.cut],
            foreign=[items[position] for position in found.foreign],
            familiarity=familiarity,
        )

    @staticmethod
    def check(items: Sequence[Any], found: Encoded) -> None:
        """Refuse to answer where nothing could be read."""
        if not len(found.x):
            raise InputError(f"Expected inputs that can be read, got none of {len(items)}: {found.skipped[0][1]}")

    @property
    def labels(self) -> Labels:
        """The likeliest label of each input."""  # (k,)
        return np.asarray(self.classes[self.probabilities.argmax(1)])

    @property
    def ranks(self) -> NDArray[np.intp]:
        """The place of each class for each input, 1 for the likeliest."""  # (k, c)
        return np.asarray(np.argsort(np.argsort(-self.probabilities, axis=1, kind="stable"), axis=1) + 1)

    def __len__(self) -> int:
        return len(self.probabilities)

    def rows(self, k: int = 3) -> list[dict[str, Any]]:
        """Return one record an input, for a DataFrame or a file: the k likeliest labels and their probabilities."""
        named = self.inputs or [f"input {position + 1}" for position in self.kept]
        return [
            {"input": name}
            | {
                f"{what}{'' if place == 1 else f' {place}'}": value
                for place, pair in enumerate(best, 1)
                for what, value in zip(("label", "probability"), pair, strict=True)
            }
            for name, best in zip(named, self.ranked(k), strict=True)
        ]

    def __str__(self) -> str:
        rows = [
            [visible(record["input"]), *(f"{visible(label)} {p:.2f}" for label, p in best)]
            for record, best in zip(self.rows(1)[:SHOWN], self.ranked()[:SHOWN], strict=True)
        ]
        titles = ["input", "label", "next", "then"][: len(rows[0]) if rows else 4]
        table = [titles, *([_cut(cell) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in table)
        lines = ["  ".join(row).rstrip() for row in padded]
        left_out = [f"skipped {visible(item)}: {visible(reason)}" for item, reason in self.skipped]
        rest = [f"… and {counted(len(self) - SHOWN, 'more row')}"] if len(self) > SHOWN else []
        return "\n".join([*lines, *rest, *left_out])

    __repr__ = __str__

    def labels_or(self, unknown: Any) -> Labels:
        """Return the likeliest label of each input, or `unknown` where it is none; needs the familiarity."""  # (k,)
        if self.familiarity is None:
            raise ParameterError("Expected answers with their familiarity, got none. Ask with keep=0.95, or another.")
        return or_unknown(self.labels, self.familiarity, unknown)

    def ranked(self, k: int = 3) -> list[list[tuple[Any, float]]]:
        """Return for each input the k most likely labels with their probabilities, the likeliest first."""
        if k < 1:
            raise ParameterError(f"Expected k of at least 1, got {k}.")
        best = np.argsort(-self.probabilities, axis=1, kind="stable")[:, :k]
        names = self.classes.tolist()
        return [
            [(names[column], float(row[column])) for column in columns]
            for row, columns in zip(self.probabilities, best, strict=True)
        ]


def name_of(item: Any, position: int) -> str:
    """Return what to call an input: a text or a path as it is, anything else by its number."""
    return str(item) if isinstance(item, str | PurePath | LazyImage) else f"input {position + 1}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
