"""The Gram matrix of features with their class sums: it answers ridge regression onto any per-class target."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from anacp.linalg import add_gram_, pack_triangle, solve_psd, unpack_triangle
from anacp.statistics.base import Features, Statistic, moved
from anacp.statistics.folds import Fold, rows_in

__all__ = ["ClassGram"]


class ClassGram(Statistic):
    """G = ZᵀZ, the class sums MN (Eqs. 3, 7, 9) and counts of the features z = features(x).

    Only the lower triangle of `gram` is kept up; what lies above is unspecified. With a `fold`, only the examples
    that belong to it count.
    """

    def __init__(
        self,
        features: Features,
        *,
        fold: Fold = "all",
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.features = features
        self.fold: Fold = fold
        size = features.n_outputs
        self.gram = torch.zeros(size, size, device=device, dtype=dtype)  # (m, m)
        self.sums = torch.zeros(0, size, device=device, dtype=dtype)  # (c, m)
        self.counts = torch.zeros(0, device=device, dtype=torch.int64)  # (c,)

    @property
    def n(self) -> int:
        """How many examples were seen."""
        return int(self.counts.sum())

    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        x, classes = rows_in(self.fold, x, classes)
        z = self.features(x)
        sums = self.sums.index_add(0, classes, z, alpha=sign)
        counts = self.counts + sign * torch.bincount(classes, minlength=len(self.counts))
        add_gram_(self.gram, z, sign=sign)
        self.sums, self.counts = sums, counts

    def solve(self, *, ridge: float) -> Tensor:
        """Return B = (G + λI)⁻¹ MN (m, c). One-hot targets give B itself, targets P (c, k) give W = B P (Eq. 9)."""
        return solve_psd(self.gram, self.sums.mT.contiguous(), shift=ridge)

    def __add__(self, other: Self) -> Self:
        return self._with(self.gram + other.gram, self.sums + other.sums, self.counts + other.counts)

    def _with(self, gram: Tensor, sums: Tensor, counts: Tensor) -> Self:
        result = type(self).__new__(type(self))
        result.features, result.fold = self.features, self.fold
        result.gram, result.sums, result.counts = gram, sums, counts
        return result

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; the Gram matrix is shared, not copied."""
        sums, counts = (moved(rows, sources, places, n_classes) for rows in (self.sums, self.counts))
        return self._with(self.gram, sums, counts)

    def tensors(self) -> dict[str, Tensor]:
        """Return the packed triangle, the class sums and the counts."""
        return {"gram": pack_triangle(self.gram), "sums": self.sums, "counts": self.counts}

    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        self.gram = unpack_triangle(tensors["gram"], len(self.gram))
        self.sums, self.counts = tensors["sums"], tensors["counts"]
