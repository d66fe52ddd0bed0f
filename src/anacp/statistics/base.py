"""The form all statistics share, so that learning, merging, forgetting and saving are written once."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol, Self

import torch
from torch import Tensor

from anacp.linalg import Triangle

# Rows worked on at a time: bounds every temporary, whatever the batch.
BLOCK_ROWS = 1024
# Unlearning is refused when more than this share of what is left may be rounding error: scores then stay within a
# hundredth of their size (`tests/fuzz/sequences.py` measures it).
LARGEST_DOUBT = 1e-4
# Weights that are no whole numbers add up with rounding error: less than this share of a class is nothing.
NOTHING_LEFT = 1e-9

Block = tuple[Tensor, Tensor, Tensor | None]  # rows (n, d), their class indices (n,), and how much each counts (n,)


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
    """A sum over examples, kept by class index 0 … C-1 where it is kept by class at all.

    It is a value: whatever adds to it, takes from it or moves its classes returns another one. So a failure in the
    middle changes nothing, to the bit, and whoever holds a statistic may go on reading it.

    It tracks how much rounding error it may carry, in units of its energy (the trace of its matrix): adding or taking
    away a block costs u · (energy of the block + energy held then), u the unit roundoff. These add up by the root of
    the sum of squares, an estimate and no bound: rounding goes up as often as down, and the plain sum would after ten
    thousand small steps be a hundred times what is measured. The error never shrinks when examples leave, so that
    `doubt`, its share of what is left, grows.
    """

    # Tensors that files of earlier versions lack; `loaded` estimates them.
    added_later: ClassVar[tuple[str, ...]] = ()
    # Whether a row can only count a whole number of times.
    counts_whole_rows: ClassVar[bool] = False

    def plus(self, x: Tensor, classes: Tensor, *, weights: Tensor | None = None, sign: int = 1) -> Self:
        """Return the statistic with examples (n, d) of the given class indices; `sign=-1` takes them out.

        A row of weight w counts as w rows do. Weights are above 0, and int64 if all are whole numbers; what a class
        counts is whole until the first that is not.
        """

        def block(rows: slice) -> Block:
            return x[rows], classes[rows], None if weights is None else weights[rows]

        return self.plus_blocks(map(block, row_blocks(len(x))), sign=sign)

    def plus_blocks(self, blocks: Iterable[Block], *, sign: int = 1) -> Self:
        """Return the statistic with the examples of all blocks; large matrices are copied once, whatever the number."""
        own = self._copied()
        for x, classes, weights in blocks:
            own._add_block_(x, classes, weights, sign)
        if sign < 0:
            own._settle_()
        return own

    @abstractmethod
    def _add_block_(self, x: Tensor, classes: Tensor, weights: Tensor | None, sign: int) -> None:
        """Add about BLOCK_ROWS examples in place: to a copy of one's own."""

    def _settle_(self) -> None:  # noqa: B027 (nothing to do where nothing is rounded)
        """After taking away: what must be zero becomes zero, to the bit."""

    def check_range(self) -> None:  # noqa: B027 (nothing to do where nothing is squared)
        """Refuse with an InputError what the precision cannot hold: squares that have overflowed or vanished."""

    def doubt(self, classes: Tensor) -> float:
        """Return the largest share of this statistic, where these classes touch it, that may be rounding error.

        It is weighed by what a learner does with the statistic: equal doubts move scores about equally.
        """
        return 0.0

    def _copied(self) -> Self:
        """Return a copy to add to: what is changed in place is copied, what is replaced is shared."""
        return self._changed(lambda triangle: triangle.copy(), lambda tensor: tensor)

    def outline(self) -> Self:
        """Return this statistic without its numbers, on device "meta"."""
        return self._changed(lambda triangle: triangle.to("meta"), lambda tensor: tensor.to("meta"))

    def _changed(self, of_triangle: Any, of_tensor: Any) -> Self:
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Triangle):
                setattr(twin, name, of_triangle(value))
            elif isinstance(value, Tensor):
                setattr(twin, name, of_tensor(value))
        return twin

    @abstractmethod
    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] moved to places[i] among n_classes; others are dropped."""

    @abstractmethod
    def joined(self, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class i at places[i] (c,) among n_classes; those at one place become one class."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Return the statistic of both sets of examples; the class indices must mean the same."""

    @property
    def separable(self) -> bool:
        """Whether `at` can drop a class exactly: nothing is pooled over classes."""
        return False

    def expected(self, n_classes: int, n_rows: int) -> Self:
        """Return an outline with the sizes that this empty statistic will have; needs no memory on device "meta"."""
        return self.at(*nothing("meta"), n_classes)

    def shaped(self, n_classes: int, sizes: Mapping[str, tuple[int, ...]]) -> Self:
        """Return an outline with the sizes that it has in a file; what follows the data is told by the file's own."""
        return self.expected(n_classes, 0)

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return everything to be saved, by name; symmetric matrices as packed triangles."""

    @abstractmethod
    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic of this form whose `tensors` these are."""

    def _with(self, **parts: Any) -> Self:
        """Return this statistic with other parts."""
        twin = copy.copy(self)
        for name, value in parts.items():
            setattr(twin, name, value)
        return twin


def moved(rows: Tensor, sources: Tensor, places: Tensor, n_classes: int) -> Tensor:
    """Return zeros of n_classes rows with rows[sources[i]] at places[i]; the rows themselves if none moves."""
    if len(sources) == len(rows) == n_classes and bool((sources == places).all()):
        return rows
    result = rows.new_zeros(n_classes, *rows.shape[1:])
    if not len(sources):  # indexing an outline would have torch import a second's worth of modules
        return result
    result[places] = rows[sources]
    return result


def summed(rows: Tensor, places: Tensor, n_classes: int) -> Tensor:
    """Return n_classes rows: the sums of those that have one place."""
    return rows.new_zeros(n_classes, *rows.shape[1:]).index_add(0, places, rows)


def tallied(counts: Tensor, classes: Tensor, weights: Tensor | None, sign: int) -> Tensor:
    """Return what each class counts (c,) once examples came, or left with `sign=-1`."""
    if weights is None:
        return counts + sign * torch.bincount(classes, minlength=len(counts)).to(counts.dtype)
    left = counts + sign * weights.new_zeros(len(counts)).index_add(0, classes, weights)
    return torch.where(left <= NOTHING_LEFT * counts, 0, left) if sign < 0 and left.is_floating_point() else left


def divisor(counts: Tensor) -> Tensor:
    """Return what a sum is divided by to be a mean: 1 where nothing is counted."""
    return torch.where(counts > 0, counts, 1)


def root_of(weights: Tensor | None, like: Tensor) -> Tensor | None:
    """Return √w (n, 1): a row times this counts w times in a product of rows with themselves."""
    return None if weights is None else weights.to(like.dtype).sqrt()[:, None]


def nothing(device: str) -> tuple[Tensor, Tensor]:
    """Return no sources and no places: what `at` takes to make room for the first classes."""
    empty = torch.zeros(0, dtype=torch.int64, device=device)
    return empty, empty
