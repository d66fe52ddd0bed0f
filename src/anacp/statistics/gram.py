"""The Gram matrix of features with their class sums: it answers ridge regression onto any per-class target."""

from collections.abc import Mapping
from typing import Protocol, Self

import torch
from torch import Tensor

from anacp.linalg import add_gram_, pack_triangle, solve_psd, unpack_triangle
from anacp.statistics.base import Statistic, moved, row_blocks

__all__ = ["ClassGram", "Features"]


class Features(Protocol):
    """Anything that turns (n, d) rows into (n, n_outputs) features."""

    @property
    def n_outputs(self) -> int:
        """How many features a row gets."""

    def __call__(self, x: Tensor, /) -> Tensor:
        """Return the features."""


class ClassGram(Statistic):
    """G = ZᵀZ and the class sums MN (Eqs. 3, 7, 9) of the features z = features(x).

    Only the lower triangle of `gram` is kept up; what lies above is unspecified.
    """

    def __init__(self, features: Features, *, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        self.features = features
        size = features.n_outputs
        self.gram = torch.zeros(size, size, device=device, dtype=dtype)  # (m, m)
        self.sums = torch.zeros(0, size, device=device, dtype=dtype)  # (c, m)

    def add_(self, x: Tensor, classes: Tensor, *, sign: int = 1) -> None:
        """Add examples in place (or take them out); a failure takes back what was added."""
        sums = self.sums.clone()
        done = 0
        try:
            for rows in row_blocks(len(x)):
                z = self.features(x[rows])
                sums.index_add_(0, classes[rows], z, alpha=sign)
                add_gram_(self.gram, z, sign=sign)
                done = rows.stop
        except BaseException:
            for rows in row_blocks(done):
                add_gram_(self.gram, self.features(x[rows]), sign=-sign)
            raise
        self.sums = sums

    def solve(self, *, ridge: float) -> Tensor:
        """Return B = (G + λI)⁻¹ MN (m, c). One-hot targets give B itself, targets P (c, k) give W = B P (Eq. 9)."""
        return solve_psd(self.gram, self.sums.mT.contiguous(), shift=ridge)

    def __add__(self, other: Self) -> Self:
        return self._with(self.gram + other.gram, self.sums + other.sums)

    def _with(self, gram: Tensor, sums: Tensor) -> Self:
        result = type(self).__new__(type(self))
        result.features, result.gram, result.sums = self.features, gram, sums
        return result

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; the Gram matrix is shared, not copied."""
        return self._with(self.gram, moved(self.sums, sources, places, n_classes))

    def tensors(self) -> dict[str, Tensor]:
        """Return the packed triangle and the class sums."""
        return {"gram": pack_triangle(self.gram), "sums": self.sums}

    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        self.gram = unpack_triangle(tensors["gram"], len(self.gram))
        self.sums = tensors["sums"]
