"""The form all statistics share, so that learning, merging, forgetting and saving are written once."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Protocol, Self

import torch
from torch import Tensor

__all__ = ["BLOCK_ROWS", "Features", "Statistic", "moved", "row_blocks"]

# Rows worked on at a time: bounds every temporary, whatever the batch.
BLOCK_ROWS = 1024


def row_blocks(n_rows: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Cut a number of rows into slices of at most `size`."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


class Features(Protocol):
    """Anything that turns (n, d) rows into (n, n_outputs) features."""

    @property
    def n_outputs(self) -> int:
        """How many features a row gets."""

    def __call__(self, x: Tensor, /) -> Tensor:
        """Return the features."""


class Statistic(ABC):
    """A sum over examples, kept by class index 0 … C-1 where it is kept by class at all."""

    def add_(self, x: Tensor, classes: Tensor, *, sign: int = 1) -> None:
        """Add examples (n, d) of the given class indices in place; `sign=-1` takes them out. All or nothing."""
        done = 0
        try:
            for rows in row_blocks(len(x)):
                self._add_block_(x[rows], classes[rows], sign)
                done = rows.stop
        except BaseException:
            for rows in row_blocks(done):
                self._add_block_(x[rows], classes[rows], -sign)
            raise

    @abstractmethod
    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        """Add at most BLOCK_ROWS examples, all or nothing."""

    @abstractmethod
    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] moved to places[i] among n_classes; others are dropped.

        What is not kept by class is shared with the original, not copied.
        """

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Return the statistic of both sets of examples; the class indices must mean the same."""

    @property
    def separable(self) -> bool:
        """Whether `at` can drop a class exactly: nothing is pooled over classes."""
        return False

    def expected(self, n_classes: int, n_rows: int) -> Self:
        """Return an outline with the sizes that this empty statistic will have; needs no memory on device "meta"."""
        nothing = torch.zeros(0, dtype=torch.int64, device="meta")
        return self.at(nothing, nothing, n_classes)

    def outline(self) -> Self:
        """Return this statistic without its numbers, on device "meta"."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                setattr(twin, name, value.to("meta"))
        return twin

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return everything to be saved, by name; symmetric matrices as packed triangles."""

    @abstractmethod
    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `tensors` returned."""


def moved(rows: Tensor, sources: Tensor, places: Tensor, n_classes: int) -> Tensor:
    """Return zeros of n_classes rows with rows[sources[i]] at places[i]; the rows themselves if none moves."""
    if len(sources) == len(rows) == n_classes and bool((sources == places).all()):
        return rows
    result = rows.new_zeros(n_classes, *rows.shape[1:])
    result[places] = rows[sources]
    return result
