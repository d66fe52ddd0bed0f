"""The Gram matrix of features with their class sums: it answers ridge regression onto any per-class target."""

from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor

from anacp.linalg import Triangle, solve_psd
from anacp.statistics.base import Features, Statistic, moved
from anacp.statistics.folds import Fold, rows_in
from anacp.statistics.rounding import (
    added_error,
    merged_error,
    refuse_overflow,
    refuse_small_ridge,
    refuse_underflow,
    share,
    smallest_energy,
    unit_roundoff,
    widest,
)

# Error in what is inverted with hardly any ridge weighs more than error in a covariance that is shrunk: measured on
# scores, a fifth of it does as much.
WEIGHT = 5


class ClassGram(Statistic):
    """G = ZᵀZ, the class sums MN (Eqs. 3, 7, 9) and counts of the features z = features(x).

    With a `fold`, only the examples that belong to it count.
    """

    added_later: ClassVar[tuple[str, ...]] = ("error",)

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
        self.error = torch.zeros((), device=device, dtype=widest(device))  # of the energy, by rounding

    @property
    def energy(self) -> Tensor:
        """The trace of G: Σ‖z‖²."""
        return self.gram.diagonal().sum(dtype=self.error.dtype)

    @property
    def n(self) -> int:
        """How many examples were seen."""
        return int(self.counts.sum())

    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        x, classes = rows_in(self.fold, x, classes)
        z = self.features(x)
        self.sums = self.sums.index_add(0, classes, z, alpha=sign)
        self.counts = self.counts + sign * torch.bincount(classes, minlength=len(self.counts))
        before = self.energy
        self.gram.add_gram_(z, sign=sign)
        self.error = added_error(self.error, self.gram.dtype, before, self.energy)

    def _settle_(self) -> None:
        if not self.n:
            self.gram, self.error = self.gram.emptied(), torch.zeros_like(self.error)
        self.sums = torch.where(self.counts[:, None] > 0, self.sums, 0.0)

    def check_range(self) -> None:
        """Refuse squares that have overflowed or vanished."""
        energy = self.energy
        refuse_overflow(energy, self.gram.dtype)
        refuse_underflow(
            (energy < smallest_energy(self.gram.dtype)) & ((energy > 0) | self.sums.any()), self.gram.dtype
        )

    def doubt(self, classes: Tensor) -> float:
        """Return the share of the energy that may be rounding error, as much as it weighs; classes are pooled."""
        return WEIGHT * share(self.error, self.energy)

    def solve(self, *, ridge: float) -> Tensor:
        """Return B = (G + λI)⁻¹ MN (m, c). One-hot targets give B itself, targets P (c, k) give W = B P (Eq. 9)."""
        return solve_psd(self.gram, self.sums.mT.contiguous(), shift=ridge)

    def check_ridge(self, ridge: float) -> None:
        """Refuse a λ that what unlearning has left would drown."""
        refuse_small_ridge(self.error, self.energy, self.n, len(self.gram), self.gram.dtype, ridge)

    def __add__(self, other: Self) -> Self:
        gram = self.gram + other.gram
        both = self._with(gram=gram, sums=self.sums + other.sums, counts=self.counts + other.counts)
        return both._with(error=merged_error(self.error, other.error, gram.dtype, both.energy))

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; the Gram matrix is shared, not copied."""
        sums, counts = (moved(rows, sources, places, n_classes) for rows in (self.sums, self.counts))
        return self._with(sums=sums, counts=counts)

    def tensors(self) -> dict[str, Tensor]:
        """Return the packed triangle, the class sums, the counts and the error."""
        return {"gram": self.gram.packed(), "sums": self.sums, "counts": self.counts, "error": self.error}

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic that was saved."""
        gram = Triangle.unpacked(tensors["gram"], self.features.n_outputs)
        saved = self._with(gram=gram, sums=tensors["sums"], counts=tensors["counts"])
        error = tensors.get("error", unit_roundoff(gram.dtype) * saved.energy)
        return saved._with(error=error)
