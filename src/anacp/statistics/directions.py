"""Few rows of features as their principal directions: a Gram matrix of low rank that no example can be read off."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from anacp.statistics.base import moved, row_blocks
from anacp.statistics.rounding import widest

# Rows that are turned into directions together: few enough that turning them costs little.
TURNED_TOGETHER = 128
# A direction with less energy than this, relative to all of its block, is rounding error.
NEGLIGIBLE = {torch.float32: 1e-12, torch.float64: 1e-24}


@dataclass(frozen=True, eq=False)
class Directions:
    """The Gram matrix ZᵀZ = FᵀF of few rows Z, with their class sums as coordinates·F."""

    rows: Tensor  # F (r, m)
    coordinates: Tensor  # (c, r)

    @classmethod
    def none(cls, n_classes: int, like: Tensor) -> Self:
        """Return the directions of no rows, as wide as a tensor (…, m)."""
        return cls(like.new_zeros(0, like.shape[-1]), like.new_zeros(n_classes, 0))

    @classmethod
    def of(cls, rows: Tensor, coordinates: Tensor, *, at_most: int | None = None) -> Self:
        """Return the principal directions UᵀZ of rows Z (n, m) with ZZᵀ = UΛUᵀ, the strongest if not all may be."""
        wide = rows.to(widest(str(rows.device)))
        near = wide / wide.abs().max().clamp_min(torch.finfo(rows.dtype).tiny) if len(rows) else wide
        values, vectors = torch.linalg.eigh(near @ near.mT)
        kept = values > NEGLIGIBLE[rows.dtype] * values.sum()
        vectors = vectors[:, kept][:, -(at_most or len(rows)) :]
        return cls((vectors.mT @ wide).to(rows.dtype), (coordinates.to(wide.dtype) @ vectors).to(rows.dtype))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sums(self) -> Tensor:
        """The class sums (c, m)."""
        return self.coordinates @ self.rows

    @property
    def energy(self) -> Tensor:
        """Σ‖z‖²."""
        return self.rows.square().sum(dtype=widest(str(self.rows.device)))

    def plus(self, z: Tensor, classes: Tensor, *, joined: bool) -> Self:
        """Return the directions of more rows (n, m); with `joined`, a few are turned together with the last ones."""
        result = self
        for block in row_blocks(len(z), TURNED_TOGETHER):
            result = result._plus_block(z[block], classes[block], joined)
        return result

    def _plus_block(self, z: Tensor, classes: Tensor, joined: bool) -> Self:
        kept = len(self) - (min(len(self), TURNED_TOGETHER - len(z)) if joined else 0)
        own = self.coordinates.new_zeros(len(self.coordinates), len(z))
        own[classes, torch.arange(len(z), device=z.device)] = 1
        beside = torch.cat([self.coordinates[:, kept:], own], dim=1)
        return self._first(kept) + type(self).of(torch.cat([self.rows[kept:], z]), beside)

    def _first(self, n: int) -> Self:
        return type(self)(self.rows[:n], self.coordinates[:, :n])

    def without(self, z: Tensor, classes: Tensor, *, n_left: int) -> Self:
        """Return the directions when some of the rows have left, and n_left are left.

        With Fᵀ = QR, the Gram matrix is RRᵀ in the basis Q, and a row has the coordinates zQ. What is left,
        RRᵀ - (zQ)ᵀ(zQ), has a rank of n_left at most.
        """
        if not n_left:
            return type(self).none(len(self.coordinates), self.rows)
        wide = widest(str(z.device))
        basis, corner = torch.linalg.qr(self.rows.to(wide).mT)  # (m, r), (r, r)
        inside = z.to(wide) @ basis  # (n, r)
        sums = (self.coordinates.to(wide) @ corner.mT).index_add(0, classes, inside, alpha=-1)  # (c, r)
        values, vectors = torch.linalg.eigh(corner @ corner.mT - inside.mT @ inside)
        left = values[-n_left:] > 0
        vectors, roots = vectors[:, -n_left:][:, left], values[-n_left:][left].sqrt()
        rows = roots[:, None] * (basis @ vectors).mT
        return type(self)(rows.to(self.rows.dtype), (sums @ vectors / roots).to(self.rows.dtype))

    def __add__(self, other: Self) -> Self:
        rows, coordinates = [self.rows, other.rows], [self.coordinates, other.coordinates]
        return type(self)(torch.cat(rows), torch.cat(coordinates, dim=1))

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return these directions with class sources[i] at places[i]."""
        return type(self)(self.rows, moved(self.coordinates, sources, places, n_classes))
