"""What a model would find unfamiliar, from its own statistics alone: no example is held back, none is from outside."""

import numpy as np
import torch

from anacp.learners.familiarity import BY, N_LEVELS, Array, Familiarity, in_units
from anacp.learners.reference import Reference
from anacp.linalg import cholesky_factor
from anacp.statistics import ClassMoments


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
    scale, inverse = reference.spread.scale, reference.spread.inverse
    means = moments.means.to(torch.float64).cpu() / scale
    counts = moments.counts.to(torch.float64).cpu()
    share = counts / counts.sum()
    middle = share @ means
    gaps = means - middle  # (c, d)
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
    return _with_levels(measure, reference.draws.rows.cpu().numpy(), reference.scores.cpu().numpy())


def _with_levels(measure: Familiarity, rows: Array, scores: Array) -> Familiarity:
    """Return the same with the quantiles of each measure of these rows."""
    at = np.linspace(0, 1, N_LEVELS)
    largest, distances = (measure.measured(rows, scores, by) for by in BY[:2])
    levels = [np.quantile(one, at) for one in (largest, distances)]
    both = in_units(largest, levels[0]) + in_units(distances, levels[1])
    return Familiarity(**measure.arrays() | {"levels": np.stack([*levels, np.quantile(both, at)])})
