"""AnaCP's contrastive projection: several random projections regressed onto the same target prototypes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from anacp.projections.random import RandomProjection


@dataclass(frozen=True)
class ContrastiveProjection:
    """u = (1/H) Σ_h φ(xR_h) W_h (Eq. 17), each head's output scaled to length one first when `normalize` is set.

    W_h = B_h P has rank c at most, so a head's output is kept as its c coefficients in terms of the prototypes:
    solving, projecting and everything above work with c numbers a row instead of d.
    """

    heads: Sequence[RandomProjection]
    weights: Sequence[Tensor]  # B_h, each (m, c)
    prototypes: Tensor  # P (c, d)
    normalize: bool

    @cached_property
    def _gram(self) -> Tensor:
        return self.prototypes @ self.prototypes.mT

    def __call__(self, x: Tensor) -> Tensor:
        """Return the adapted features u (n, d)."""
        return self.coefficients(x) @ self.prototypes

    def coefficients(self, x: Tensor) -> Tensor:
        """Return a (n, c) with u = a P."""
        return self._average(lambda h: self.heads[h](x))

    def coefficients_of_sums(self, left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
        """Return the coefficients of all sums x_i + y_j (i major) from x R_h and y R_h, given head by head.

        The projection is linear up to its activation, so a sum of two sets costs their sizes added, not multiplied.
        """

        def features(h: int) -> Tensor:
            return self.heads[h].activate((left[h][:, None] + right[h]).flatten(0, 1))

        return self._average(features)

    def _average(self, features: Callable[[int], Tensor]) -> Tensor:
        outputs = (self._scaled(features(h) @ self.weights[h]) for h in range(len(self.heads)))
        return sum(outputs, start=self.prototypes.new_zeros(())) / len(self.heads)

    def _scaled(self, coefficients: Tensor) -> Tensor:
        """Divide by ‖aP‖ = √(a PPᵀ aᵀ)."""
        if not self.normalize:
            return coefficients
        squared = ((coefficients @ self._gram) * coefficients).sum(1, keepdim=True)
        return coefficients / squared.clamp_min(1e-24).sqrt()
