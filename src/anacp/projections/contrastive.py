"""AnaCP's contrastive projection: several random projections regressed onto the same target prototypes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from anacp.linalg import near_one
from anacp.projections.random import RandomProjection

# Squared lengths beyond these have lost digits, or will.
TINY, HUGE = 1e-20, 1e30


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
        near = self.prototypes * self._power
        return near @ near.mT

    @cached_property
    def _power(self) -> float:
        """A power of two that brings prototypes near one, where their squares would otherwise be lost."""
        largest = float(self.prototypes.abs().max())
        return 1.0 if largest == 0 or 1e-6 < largest < 1e6 else 0.5 ** math.frexp(largest)[1]

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
        squared = self._squared_lengths(coefficients)
        odd = (squared < TINY) | (squared > HUGE)
        if bool(odd.any()):
            coefficients = torch.where(odd, near_one(coefficients), coefficients)
            squared = self._squared_lengths(coefficients)
        return coefficients * self._power / squared.clamp_min(1e-24).sqrt()

    def _squared_lengths(self, coefficients: Tensor) -> Tensor:
        return ((coefficients @ self._gram) * coefficients).sum(1, keepdim=True)
