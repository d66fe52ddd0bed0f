"""What a model would find unfamiliar, from its own statistics alone: no example is held back, none is from outside."""

import numpy as np
import torch
from torch import Tensor

from anacp.learners.familiarity import BY, N_LEVELS, Familiarity, in_units
from anacp.learners.reference import Reference, Spread
from anacp.linalg import cholesky_factor
from anacp.statistics import ClassMoments, row_blocks


def measured_familiarity(moments: ClassMoments, reference: Reference, *, dtype: str) -> Familiarity:
    """Return what measures familiarity, from the moments and from draws as hard as examples that were not learned.

    Parameters
    ----------
    moments : ClassMoments
        What is remembered.
    reference : Reference
        Hard draws of it, scored by the learner.
    dtype : str
        The precision in which the largest part is kept.
    """
    made = _of_few_classes if moments.n_classes <= moments.means.shape[1] else _of_many_classes
    return _with_levels(made(moments, reference.spread, dtype), reference.draws.rows, reference.scores)


def _of_few_classes(moments: ClassMoments, spread: Spread, dtype: str) -> Familiarity:
    """Return the measure without its levels, by products of all means with each other."""
    share, means = _shares(moments), moments.means.to(torch.float64).cpu() / spread.scale
    middle = share @ means
    gaps = means - middle  # (c, d)
    solved = _whitened(gaps, spread.inverse).mT.numpy().astype(dtype)  # (d, c)
    products = gaps.numpy() @ solved.astype(np.float64)
    products = (products + products.T) / 2
    root = share.sqrt()
    # K with KKᵀ = D (I + D G D)⁻¹ D for the products G of the means and D = diag √share.
    inner = torch.eye(len(root), dtype=root.dtype) + root[:, None] * torch.from_numpy(products) * root
    factor = torch.linalg.solve_triangular(cholesky_factor(inner), torch.diag(root), upper=False)
    return Familiarity(
        weights=solved,
        offsets=np.stack([middle.numpy() @ solved.astype(np.float64), products.diagonal()]),
        background=factor.mT.numpy().astype(dtype),
        scale=np.array([spread.scale]),
        levels=np.zeros((len(BY), N_LEVELS)),
    )


def _of_many_classes(moments: ClassMoments, spread: Spread, dtype: str) -> Familiarity:
    """Return the same of more classes than features, some of them at a time.

    With B = Σ_c share_c (μ_c - m)(μ_c - m)ᵀ, Λ = RRᵀ and RᵀBR = U diag(b) Uᵀ, the two Gaussians' precisions differ by
    Λ - (Λ⁻¹ + B)⁻¹ = LLᵀ with L = RU diag √(b / (1 + b)).
    """
    share, (n_classes, width) = _shares(moments), moments.means.shape
    middle = share @ moments.means.to(torch.float64).cpu() / spread.scale
    weights, offsets = np.empty((width, n_classes), dtype), np.empty((2, n_classes))
    between = torch.zeros(width, width, dtype=torch.float64)
    for classes in row_blocks(n_classes):
        gaps = moments.means[classes].to(torch.float64).cpu() / spread.scale - middle
        between.addmm_(gaps.mT, share[classes, None] * gaps)
        weights[:, classes] = solved = _whitened(gaps, spread.inverse).mT.numpy().astype(dtype)
        offsets[0, classes] = middle.numpy() @ solved.astype(np.float64)
        offsets[1, classes] = (gaps.numpy().T * solved.astype(np.float64)).sum(0)
    inverse = spread.inverse
    root = torch.diag(inverse.sqrt()) if inverse.ndim == 1 else cholesky_factor(inverse)
    values, vectors = torch.linalg.eigh(root.mT @ between @ root)
    difference = root @ (vectors * (values / (1 + values)).clamp_min(0).sqrt())  # L
    return Familiarity(
        weights=weights,
        offsets=offsets,
        background=torch.cat([difference, -(middle @ difference)[None]]).numpy().astype(dtype),
        scale=np.array([spread.scale]),
        levels=np.zeros((len(BY), N_LEVELS)),
    )


def _shares(moments: ClassMoments) -> Tensor:
    """Return the share of each class among all examples (c,)."""
    counts = moments.counts.to(torch.float64).cpu()
    return counts / counts.sum()


def _whitened(gaps: Tensor, inverse: Tensor) -> Tensor:
    """Return gaps · Λ (c, d)."""
    return gaps * inverse if inverse.ndim == 1 else gaps @ inverse


def _with_levels(measure: Familiarity, drawn: Tensor, scored: Tensor) -> Familiarity:
    """Return the same with the quantiles of each measure of these rows and their scores."""
    at, rows, scores = np.linspace(0, 1, N_LEVELS), drawn.cpu().numpy(), scored.cpu().numpy()
    blocks = list(row_blocks(len(rows)))
    largest, distances = (
        np.concatenate([measure.measured(rows[block], scores[block], by) for block in blocks]) for by in BY[:2]
    )
    levels = [np.quantile(one, at) for one in (largest, distances)]
    both = in_units(largest, levels[0]) + in_units(distances, levels[1])
    return Familiarity(**measure.arrays() | {"levels": np.stack([*levels, np.quantile(both, at)])})
