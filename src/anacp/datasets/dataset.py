"""One shape for every data set: named examples in splits, with a card that says where they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.errors import InputError
from anacp.items import LazyImage

Items = Sequence[str] | Sequence[LazyImage] | NDArray[np.float32]


@dataclass(frozen=True)
class Card:
    """What to know before using a data set."""

    name: str
    title: str
    modality: str
    split: str  # how training and test rows were told apart
    n_classes: int | None = None  # None where it depends on the user's own data
    sizes: Mapping[str, int] = field(default_factory=dict)  # as published
    licence: str = "not stated"
    citation: str = "not stated"
    home: str = "not stated"
    checksums: Mapping[str, str] = field(default_factory=dict)  # file: MD5, where one is known for certain
    backbone: str | None = None  # what made the features, where that is known

    def as_dict(self) -> dict[str, object]:
        """Return the card ready for JSON."""
        return {**asdict(self), "sizes": dict(self.sizes), "checksums": dict(self.checksums) or "not published"}


@dataclass(frozen=True, eq=False)
class Examples:
    """Items and their labels, row by row. Items are texts, images that open on demand, or a feature matrix."""

    items: Items
    labels: NDArray[Any]  # (n,) text or whole numbers

    def __post_init__(self) -> None:
        if len(self.items) != len(self.labels):
            raise InputError(f"Expected one label for each of the {len(self.items)} items, got {len(self.labels)}.")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def classes(self) -> NDArray[Any]:
        """The distinct labels, sorted."""
        return np.unique(self.labels)

    def take(self, rows: ArrayLike) -> "Examples":
        """Return some rows: positions, such as a task's, or a mask."""
        positions = np.arange(len(self))[np.asarray(rows)]
        items = self.items[positions] if isinstance(self.items, np.ndarray) else [self.items[i] for i in positions]
        return Examples(items, self.labels[positions])


class LeftOut(NamedTuple):
    """Something that was found among the examples and is none."""

    place: str
    reason: str


@dataclass(frozen=True, eq=False)
class Labelled(Examples):
    """Examples as a person has them, and what was found beside them."""

    modality: Literal["image", "text", "features"] = "image"
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()  # what had to be guessed


def nothing() -> Examples:
    """Return no examples."""
    return Examples((), np.empty(0, np.str_))


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set in its splits."""

    name: str
    modality: str  # "image", "text" or "features"
    train: Examples
    test: Examples
    card: Card
    validation: Examples = field(default_factory=nothing)
    unknown: Examples = field(default_factory=nothing)  # belongs to no class

    @property
    def classes(self) -> NDArray[Any]:
        """The distinct labels of the training rows, sorted."""
        return self.train.classes

    @property
    def sizes(self) -> dict[str, int]:
        """How many examples there really are in each split that is not empty."""
        splits = {"train": self.train, "test": self.test, "validation": self.validation, "unknown": self.unknown}
        return {name: len(examples) for name, examples in splits.items() if len(examples)}
