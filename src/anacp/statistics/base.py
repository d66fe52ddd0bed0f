"""The form all statistics share, so that learning, merging, forgetting and saving are written once."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Self

from torch import Tensor

__all__ = ["BLOCK_ROWS", "Statistic", "row_blocks"]

# Rows worked on at a time: bounds every temporary, whatever the batch.
BLOCK_ROWS = 1024


def row_blocks(n_rows: int) -> Iterator[slice]:
    """Cut a number of rows into slices of at most BLOCK_ROWS."""
    return (slice(start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS))


class Statistic(ABC):
    """A sum over examples, kept by class index 0 … C-1 where it is kept by class at all."""

    @abstractmethod
    def add_(self, x: Tensor, classes: Tensor, *, sign: int = 1) -> None:
        """Add examples (n, d) of the given class indices in place; `sign=-1` takes them out. All or nothing."""

    @abstractmethod
    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] moved to places[i] among n_classes; others are dropped.

        What is not kept by class is shared with the original, not copied.
        """

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Return the statistic of both sets of examples; the class indices must mean the same."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return everything to be saved, by name; symmetric matrices as packed triangles."""

    @abstractmethod
    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `tensors` returned."""


def moved(rows: Tensor, sources: Tensor, places: Tensor, n_classes: int) -> Tensor:
    """Return zeros of n_classes rows with rows[sources[i]] at places[i]."""
    result = rows.new_zeros(n_classes, *rows.shape[1:])
    result[places] = rows[sources]
    return result
