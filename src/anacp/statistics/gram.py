"""The Gram matrix of features with their class sums: it answers ridge regression onto any per-class target."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from anacp.linalg import Triangle, solve_psd
from anacp.statistics.base import Features, Statistic, moved
from anacp.statistics.folds import Fold, rows_in


class ClassGram(Statistic):
    """G = ZᵀZ, the class sums MN (Eqs. 3, 7, 9) and counts of the features z = features(x).

    With a `fold`, only the examples that belong to it count.
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
        self.gram = Triangle.zeros(features.n_outputs, device=device, dtype=dtype)  # (m, m)
        self.sums = torch.zeros(0, features.n_outputs, device=device, dtype=dtype)  # (c, m)
        self.counts = torch.zeros(0, device=device, dtype=torch.int64)  # (c,)

    @property
    def n(self) -> int:
        """How many examples were seen."""
        return int(self.counts.sum())

    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        x, classes = rows_in(self.fold, x, classes)
        z = self.features(x)
        self.sums = self.sums.index_add(0, classes, z, alpha=sign)
        self.counts = self.counts + sign * torch.bincount(classes, minlength=len(self.counts))
        self.gram.add_gram_(z, sign=sign)

    def solve(self, *, ridge: float) -> Tensor:
        """Return B = (G + λI)⁻¹ MN (m, c). One-hot targets give B itself, targets P (c, k) give W = B P (Eq. 9)."""
        return solve_psd(self.gram, self.sums.mT.contiguous(), shift=ridge)

    def __add__(self, other: Self) -> Self:
        return self._with(gram=self.gram + other.gram, sums=self.sums + other.sums, counts=self.counts + other.counts)

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; the Gram matrix is shared, not copied."""
        sums, counts = (moved(rows, sources, places, n_classes) for rows in (self.sums, self.counts))
        return self._with(sums=sums, counts=counts)

    def tensors(self) -> dict[str, Tensor]:
        """Return the packed triangle, the class sums and the counts."""
        return {"gram": self.gram.packed(), "sums": self.sums, "counts": self.counts}

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic that was saved."""
        gram = Triangle.unpacked(tensors["gram"], self.features.n_outputs)
        return self._with(gram=gram, sums=tensors["sums"], counts=tensors["counts"])
