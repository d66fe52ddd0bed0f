"""Symmetric matrices, of which only the lower triangle is computed, read and stored."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

# Rows a strip: few enough to waste little above the diagonal, enough for full GEMM speed.
STRIP = 500
# Where strips are filled by several steps, few enough that a strip stays in the processor's cache meanwhile.
FILLED_STRIP = 256


@dataclass(frozen=True, eq=False)
class Triangle:
    """A symmetric matrix (m, m) as strips of rows, each up to its diagonal; what lies above in a strip is unspecified.

    It is used as a value: whoever adds in place (`add_gram_`) does so on a copy of its own.
    """

    strips: tuple[Tensor, ...]
    whole: Tensor | None = None  # what the strips are parts of, if they are

    @classmethod
    def zeros(cls, size: int, *, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Self:
        """Return an empty matrix."""
        if torch.device(device).type == "meta":  # sizes only, and no more work for large ones
            return cls((torch.empty(size, size, device=device, dtype=dtype),))
        return cls.filled(size, lambda rows: torch.zeros(rows.stop - rows.start, rows.stop, device=device, dtype=dtype))

    @classmethod
    def filled(cls, size: int, strip: Callable[[slice], Tensor]) -> Self:
        """Return a matrix made strip by strip: `strip` gives some rows of it, up to the column where they stop."""
        return cls(tuple(strip(rows) for rows in cls._slices(size)))

    @classmethod
    def filled_whole(cls, like: Tensor, size: int, fill: Callable[[slice, Tensor], None]) -> Self:
        """Return the same as parts of one dense matrix, which `given_up` gives without a copy."""
        whole, slices = fresh_matrix(like, size, size), cls._slices(size, FILLED_STRIP)
        strips = tuple(whole[rows, : rows.stop] for rows in slices)
        for rows, strip in zip(slices, strips, strict=True):
            fill(rows, strip)
        return cls(strips, whole)

    @staticmethod
    def _slices(size: int, strip: int = STRIP) -> list[slice]:
        return [slice(start, min(start + strip, size)) for start in range(0, size, strip)]

    @classmethod
    def gram(cls, rows: Tensor) -> Self:
        """Return rowsᵀ rows (m, m)."""
        result = cls.zeros(rows.shape[1], device=str(rows.device), dtype=rows.dtype)
        result.add_gram_(rows)
        return result

    def __len__(self) -> int:
        return self.strips[-1].shape[1] if self.strips else 0

    @property
    def dtype(self) -> torch.dtype:
        """The precision."""
        return self.strips[0].dtype

    def add_gram_(self, rows: Tensor, *, sign: int = 1) -> None:
        """Add sign · rowsᵀ rows in place; torch has no symmetric rank-k update, so that strips cover one triangle."""
        for place, strip in self.places():
            strip.addmm_(rows[:, place].mT, rows[:, : place.stop], alpha=sign)

    def copy(self) -> Self:
        """Return a copy to add to."""
        return type(self)(tuple(strip.clone() for strip in self.strips))

    def emptied(self) -> Self:
        """Return zeros of this size."""
        return type(self)(tuple(torch.zeros_like(strip) for strip in self.strips))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.strips, other.strips, strict=True)))

    def scaled(self, factor: float | Tensor) -> Self:
        """Return the matrix times a number."""
        return type(self)(tuple(strip * factor for strip in self.strips))

    def to(self, target: torch.dtype | torch.device | str) -> Self:
        """Return the matrix in another precision or on another device."""
        return type(self)(tuple(strip.to(target) for strip in self.strips))

    def dense(self) -> Tensor:
        """Return a matrix (m, m) of one's own whose lower triangle is this one; what lies above is unspecified."""
        first = self.strips[0] if self.strips else torch.empty(0, 0)
        matrix = fresh_matrix(first, len(self), len(self))
        for place, strip in self.places():
            matrix[place, : place.stop] = strip
        return matrix

    def given_up(self) -> Tensor:
        """Return the same without a copy where that is possible: the triangle is not to be used any more."""
        return self.dense() if self.whole is None else self.whole

    def symmetric(self) -> Tensor:
        """Return the full matrix (m, m), of one's own."""
        matrix = self.dense()
        for place, strip in self.places():
            matrix[: place.start, place] = strip[:, : place.start].mT
            matrix[place, place] = symmetric(strip[:, place])
        return matrix

    def diagonal(self) -> Tensor:
        """Return the diagonal (m,)."""
        return torch.cat([strip[:, place].diagonal() for place, strip in self.places()])

    def times(self, columns: Tensor) -> Tensor:
        """Return this matrix times columns (m, k), without making it dense."""
        product = torch.empty_like(columns)
        for place, strip in self.places():
            left = strip[:, : place.start]
            product[place] = left @ columns[: place.start] + symmetric(strip[:, place]) @ columns[place]
            product[: place.start] += left.mT @ columns[place]
        return product

    def packed(self) -> Tensor:
        """Return the lower triangle row after row, m(m+1)/2 numbers."""
        size = len(self)
        if self.strips and self.strips[0].is_meta:  # sizes only
            return self.strips[0].new_empty(size * (size + 1) // 2)
        return torch.cat([strip[i, : place.start + i + 1] for place, strip in self.places() for i in range(len(strip))])

    @classmethod
    def unpacked(cls, packed: Tensor, size: int) -> Self:
        """Return the matrix that was packed."""
        matrix = cls.zeros(size, device=str(packed.device), dtype=packed.dtype)
        lengths = torch.arange(1, size + 1)
        starts = (lengths.cumsum(0) - lengths).tolist()
        for place, strip in matrix.places():
            for i in range(len(strip)):
                row = place.start + i
                strip[i, : row + 1] = packed[starts[row] : starts[row] + row + 1]
        return matrix

    def places(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield the strips with the rows that they are."""
        for strip in self.strips:
            yield slice(strip.shape[1] - len(strip), strip.shape[1]), strip


def fresh_matrix(like: Tensor, n_rows: int, n_columns: int) -> Tensor:
    """Return a matrix whose numbers are still to be written, of the precision and on the device of another tensor.

    On a CPU NumPy provides the memory: it asks the system for large pages, of which a large matrix touches far fewer.
    """
    if like.device.type != "cpu":
        return like.new_empty(n_rows, n_columns)
    return torch.from_numpy(np.empty((n_rows, n_columns), dtype=torch.empty(0, dtype=like.dtype).numpy().dtype))


def fresh_weights(like: Tensor, n_rows: int, n_columns: int) -> Tensor:
    """Return the same, laid out as solutions keep weights: where there are more rows, column by column."""
    tall = n_rows > n_columns
    return fresh_matrix(like, n_columns, n_rows).mT if tall else fresh_matrix(like, n_rows, n_columns)


def symmetric(lower: Tensor) -> Tensor:
    """Return the full symmetric matrix (m, m) of a lower triangle."""
    return lower.tril() + lower.tril(-1).mT
