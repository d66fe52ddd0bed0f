"""AnaCP's contrastive projection: several random projections regressed onto the same target prototypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Squared lengths beyond these have lost digits, or will.
TINY, HUGE = 1e-20, 1e30


@dataclass(frozen=True)
class ContrastiveProjection:
    """u = (1/H) Σ_h φ(xR_h) W_h (Eq. 17), each head's output scaled to length one first when `normalize` is set.

    W_h = B_h P has rank c at most, so a head's output is kept as its c coefficients in terms of the prototypes:
    solving, projecting and everything above work with c numbers a row instead of d. Of more classes than features, W_h
    is given as it is, and the coefficients are the adapted features themselves.

    Works on tensors of torch and, for rows of ordinary size, on arrays of NumPy.
    """

    heads: Sequence[Any]  # random projections
    weights: Sequence[Tensor]  # B_h, each (m, c), or W_h (m, d)
    prototypes: Tensor | None  # P (c, d); None if the weights are W_h
    normalize: bool

    @cached_property
    def gram(self) -> Tensor:
        """PPᵀ (c, c) of prototypes brought near one."""
        assert self.prototypes is not None
        near = self.prototypes * self.power
        return near @ near.T

    @cached_property
    def power(self) -> float:
        """A power of two that brings prototypes near one, where their squares would otherwise be lost."""
        if self.prototypes is None:
            return 1.0
        largest = float(abs(self.prototypes).max())
        return 1.0 if largest == 0 or 1e-6 < largest < 1e6 else 0.5 ** math.frexp(largest)[1]

    def __call__(self, x: Tensor) -> Tensor:
        """Return the adapted features u (n, d)."""
        coefficients = self.coefficients(x)
        return coefficients if self.prototypes is None else coefficients @ self.prototypes

    def coefficients(self, x: Tensor) -> Tensor:
        """Return a (n, c) with u = a P."""
        return self._average(lambda h: self.heads[h](x))

    def coefficients_of_sums(self, left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
        """Return the coefficients of all sums x_i + y_j (i major) from x R_h and y R_h, given head by head.

        The projection is linear up to its activation, so a sum of two sets costs their sizes added, not multiplied.
        """

        def features(h: int) -> Tensor:
            activated: Tensor = self.heads[h].activate((left[h][:, None] + right[h]).flatten(0, 1))
            return activated

        return self._average(features)

    def _average(self, features: Callable[[int], Tensor]) -> Tensor:
        outputs = (self._scaled(features(h) @ self.weights[h]) for h in range(len(self.heads)))
        total: Tensor = sum(outputs)  # type: ignore[assignment]
        return total / len(self.heads)

    def _scaled(self, coefficients: Tensor) -> Tensor:
        """Divide by ‖aP‖ = √(a PPᵀ aᵀ)."""
        if not self.normalize:
            return coefficients
        squared = self.squared_lengths(coefficients)
        odd = (squared < TINY) | (squared > HUGE)
        if bool(odd.any()):
            return self._scaled_odd(coefficients, odd)
        return coefficients * self.power / squared**0.5

    def _scaled_odd(self, coefficients: Tensor, odd: Tensor) -> Tensor:
        import torch

        from anacp.linalg import near_one

        coefficients = torch.where(odd, near_one(coefficients), coefficients)
        return coefficients * self.power / self.squared_lengths(coefficients).clamp_min(1e-24).sqrt()

    def squared_lengths(self, coefficients: Tensor) -> Tensor:
        """Return ‖aP‖² (n, 1), of prototypes brought near one."""
        return (self.through_gram(coefficients) * coefficients).sum(1)[:, None]

    def through_gram(self, coefficients: Tensor) -> Tensor:
        """Return a PPᵀ, of prototypes brought near one."""
        return coefficients if self.prototypes is None else coefficients @ self.gram
