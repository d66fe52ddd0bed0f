"""What a model would find unfamiliar, from its own statistics alone: no example is held back, none is from outside."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from anacp.learners.calibration import mixed_draws
from anacp.learners.familiarity import BY, N_LEVELS, Array, Familiarity, in_units
from anacp.linalg import cholesky_factor
from anacp.randomness import generator
from anacp.statistics import ClassMoments

# Added to the covariance before it is inverted, relative to the mean of its diagonal.
SHRINKAGE = 0.3
# Of the mean squared length of rows: less than this of it is no spread that a float32 could keep.
LEAST = 1e-12
# Degrees of freedom of Student's t, by which real examples scatter about their class rather than by a Gaussian.
TAIL = 4
# Rows drawn to set the thresholds, shared out among the classes.
REFERENCE_ROWS = 4000


def measured_familiarity(
    moments: ClassMoments, scores: Callable[[Tensor], Tensor], *, seed: int, dtype: str
) -> Familiarity:
    """Return what measures familiarity, from the moments and from draws as hard as examples that were not learned.

    Parameters
    ----------
    moments : ClassMoments
        What is remembered.
    scores : callable
        The learner's, of prepared rows.
    seed : int
        Of the draws.
    dtype : str
        The precision in which the largest part is kept.
    """
    scale = (moments.mean_square() or 1.0) ** 0.5
    covariance = moments.covariance().to(torch.float64).cpu() / scale**2  # (d, d), or its diagonal (d,)
    means = moments.means.to(torch.float64).cpu() / scale
    counts = moments.counts.to(torch.float64).cpu()
    share = counts / counts.sum()
    middle = share @ means
    gaps = means - middle  # (c, d)
    inverse, freedom = _inverse(covariance)
    solved = (gaps * inverse if inverse.ndim == 1 else gaps @ inverse).mT.numpy().astype(dtype)  # (d, c)
    products = gaps.numpy() @ solved.astype(np.float64)
    products = (products + products.T) / 2
    root = share.sqrt()
    # K with KKᵀ = D (I + D G D)⁻¹ D for the products G of the means and D = diag √share.
    inner = torch.eye(len(root), dtype=root.dtype) + root[:, None] * torch.from_numpy(products) * root
    factor = torch.linalg.solve_triangular(cholesky_factor(inner), torch.diag(root), upper=False)
    measure = Familiarity(
        weights=solved,
        offsets=np.stack([middle.numpy() @ solved.astype(np.float64), products.diagonal()]),
        background=factor.mT.numpy().astype(dtype),
        scale=np.array([scale]),
        levels=np.zeros((len(BY), N_LEVELS)),
    )
    rows = hard_draws(moments, freedom, seed=seed)
    return _with_levels(measure, rows.cpu().numpy(), scores(rows).cpu().numpy())


def hard_draws(moments: ClassMoments, freedom: float, *, seed: int) -> Tensor:
    """Return pseudo-features (n, d) that are as far from what was learned as examples that come later.

    Such examples lie between classes as those that calibrate probabilities do. They lie farther from a mean than those
    it was computed from, by (1 + 1/n_c)·N/(N - C) in their squares, and, seen through the inverse of a covariance that
    was fitted to others with so many degrees of freedom, by N/(N - freedom). Their distances have a heavy tail.
    """
    draws = mixed_draws(moments, REFERENCE_ROWS, seed=seed, role="familiarity")
    first, n = moments.means[draws.first], moments.n
    centres = first + draws.share[:, None] * (moments.means[draws.second] - first)
    farther = (1 + 1 / moments.counts[draws.first]) * n / max(n - moments.n_classes, 1) * n / max(n - freedom, 1)
    normal = torch.randn(len(centres), TAIL, generator=generator(seed, "familiarity/tail"), dtype=torch.float64)
    tail = ((TAIL - 2) / normal.square().sum(1)).to(centres)  # of mean one
    return centres + (draws.rows - centres) * (farther.to(centres) * tail).sqrt()[:, None]


def _inverse(covariance: Tensor) -> tuple[Tensor, float]:
    """Return Λ = (Σ + εI)⁻¹, and the degrees of freedom tr ΣΛ that were fitted together; of a diagonal none are."""
    diagonal = covariance if covariance.ndim == 1 else covariance.diagonal()
    shift = SHRINKAGE * (max(float(diagonal.mean()), LEAST) if bool(diagonal.any()) else 1.0)
    if covariance.ndim == 1:
        return 1 / (covariance + shift), 0.0
    shifted = covariance + shift * torch.eye(len(covariance)).to(covariance)
    inverse = torch.cholesky_inverse(cholesky_factor(shifted))
    return inverse, len(diagonal) - shift * float(inverse.diagonal().sum())


def _with_levels(measure: Familiarity, rows: Array, scores: Array) -> Familiarity:
    """Return the same with the quantiles of each measure of these rows."""
    at = np.linspace(0, 1, N_LEVELS)
    largest, distances = (measure.measured(rows, scores, by) for by in BY[:2])
    levels = [np.quantile(one, at) for one in (largest, distances)]
    both = in_units(largest, levels[0]) + in_units(distances, levels[1])
    return Familiarity(**measure.arrays() | {"levels": np.stack([*levels, np.quantile(both, at)])})
