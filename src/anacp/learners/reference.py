"""Pseudo-features as hard as examples that come later, with their scores: by these a model judges itself.

How sharp its probabilities are and what it finds unfamiliar both come from them: they are drawn and scored once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anacp.learners.calibration import MixedDraws, mixed_draws
from anacp.linalg import cholesky_factor
from anacp.randomness import generator
from anacp.statistics import ClassMoments

# Rows drawn, shared out among the classes: a quantile of 5 % is then known within half a per cent.
REFERENCE_ROWS = 1500
# Added to the covariance before it is inverted, relative to the mean of its diagonal.
SHRINKAGE = 0.3
# Of the mean squared length of rows: less than this of it is no spread that a float32 could keep.
LEAST = 1e-12
# Degrees of freedom of Student's t, by which real examples scatter about their class rather than by a Gaussian.
TAIL = 4


@dataclass(frozen=True, eq=False)
class Spread:
    """How rows scatter about their class: Λ = (Σ + εI)⁻¹ of rows divided by `scale`."""

    scale: float  # the root of the mean squared length of rows
    inverse: Tensor  # Λ (d, d), or its diagonal (d,)
    freedom: float  # the degrees of freedom tr ΣΛ that were fitted together; of a diagonal none are

    @classmethod
    def of(cls, moments: ClassMoments) -> "Spread":
        """Return that of the remembered covariance."""
        scale = (moments.mean_square() or 1.0) ** 0.5
        covariance = moments.covariance().to(torch.float64).cpu() / scale**2
        diagonal = covariance if covariance.ndim == 1 else covariance.diagonal()
        shift = SHRINKAGE * (max(float(diagonal.mean()), LEAST) if bool(diagonal.any()) else 1.0)
        if covariance.ndim == 1:
            return cls(scale, 1 / (covariance + shift), 0.0)
        diagonal.add_(shift)
        inverse = torch.cholesky_inverse(cholesky_factor(covariance))
        return cls(scale, inverse, len(diagonal) - shift * float(inverse.diagonal().sum()))


@dataclass(frozen=True, eq=False)
class Reference:
    """Hard draws, what a learner scores them, and the spread of the classes that they are drawn from."""

    draws: MixedDraws
    scores: Tensor  # (n, c)
    spread: Spread


def made_reference(moments: ClassMoments, scores: Callable[[Tensor], Tensor], *, seed: int) -> Reference:
    """Return the reference of a learner, given how it scores prepared rows."""
    spread = Spread.of(moments)
    draws = hard_draws(moments, spread.freedom, seed=seed)
    return Reference(draws, scores(draws.rows), spread)


def hard_draws(moments: ClassMoments, freedom: float, *, seed: int) -> MixedDraws:
    """Return pseudo-features (n, d) that are as far from what was learned as examples that come later.

    Such examples lie between classes (`mixed_draws`), and farther from a mean than those it was computed from, by
    1 + 1/n_c in their squares, and by `stretches`.
    """
    draws = mixed_draws(moments, REFERENCE_ROWS, seed=seed, role="familiarity")
    first = moments.means[draws.first]
    centres = first + draws.share[:, None] * (moments.means[draws.second] - first)
    farther = (1 + 1 / moments.counts[draws.first]).to(centres).sqrt()[:, None]
    stretch = farther * stretches(moments, freedom, len(centres), seed=seed, role="familiarity")
    return replace(draws, rows=centres + (draws.rows - centres) * stretch)


def stretches(moments: ClassMoments, freedom: float, n_rows: int, *, seed: int, role: str) -> Tensor:
    """Return by how much noise about means that are known reaches farther in examples that come later (n, 1).

    In its square by N/(N - C) and by N/(N - freedom), as far as the covariance was fitted to what it is fitted for, and
    with a heavy tail of mean one.
    """
    n = moments.n
    normal = torch.randn(n_rows, TAIL, generator=generator(seed, f"{role}/tail"), dtype=torch.float64)
    tail = (TAIL - 2) / normal.square().sum(1, keepdim=True)
    fitted = n / max(n - moments.n_classes, 1) * n / max(n - freedom, 1)
    return (fitted * tail).sqrt().to(moments.means)
