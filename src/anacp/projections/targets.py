"""Where each class is sent: target prototypes, class means pushed apart (Section 3.2)."""

from typing import Literal

import torch
from torch import Tensor

from anacp.linalg import cholesky_factor, symmetric_roots, unit_rows
from anacp.projections.many_targets import many_target_prototypes

Targets = Literal["paper", "reference", "means"]


def target_prototypes(means: Tensor, covariance: Tensor, *, targets: Targets, repulsion: float) -> Tensor:
    """Return the target prototypes P (c, d) for class means (c, d) and a positive-definite covariance (d, d).

    Whitening, SVD, shift and de-whitening (Eqs. 12 to 16) need no square root of the (d, d) covariance. With the means
    as columns of M and K = MᵀΣ⁻¹M = V S² Vᵀ, the whitened means are U S Vᵀ, and the Lemma's shift of class i by
    α δ_i e_i, e_i a column of Vᵀ, de-whitens to

        Σ^{1/2} U (S Vᵀ + α Vᵀ Δ) = M (I + α K^{-1/2} Δ).

    "reference" does as the authors' released code: means centred, Δ = I, Σ^{-1/2} applied once more instead of
    Σ^{1/2}, the centre added back, and each prototype scaled to length one. "means" leaves the class means alone.
    """
    if targets == "means":
        return means
    if len(means) > means.shape[1]:
        return many_target_prototypes(means, covariance, targets=targets, repulsion=repulsion)
    factor = cholesky_factor(covariance)
    centre = means.mean(0) if targets == "reference" else torch.zeros_like(means[0])
    centred = means - centre
    whitened = torch.linalg.solve_triangular(factor, centred.mT, upper=False)  # equals U S Vᵀ up to a rotation of U
    inner = whitened.mT @ whitened  # K (c, c)
    root, inverse_root = symmetric_roots(inner)
    if targets == "paper":
        signs = separation_signs(inner, root)
        return means + repulsion * signs[:, None] * (inverse_root @ means)
    separated = centred + repulsion * inverse_root @ centred
    return unit_rows(torch.cholesky_solve(separated.mT, factor).mT + centre)


def separation_signs(inner: Tensor, root: Tensor) -> Tensor:
    """Return the Lemma's δ_i (c,), with the indicator 2·1[·≥0] - 1 of its proof.

    `inner` holds ⟨w_i, w_j⟩ and `root` holds ⟨e_i, w_j⟩; with w_j the columns of S Vᵀ and e_i those of Vᵀ these are
    K and K^{1/2}. δ_i is minus the sign of the slope of Σ_j |cos(w_i + α e_i, w_j)| at α = 0.
    """
    squared = inner.diagonal()
    norms = squared.clamp_min(0).sqrt()
    indicator = 2.0 * (inner >= 0) - 1
    slopes = indicator * root * squared[:, None] - root.diagonal()[:, None] * inner.abs()
    slopes = torch.where(norms > 0, slopes / norms, 0.0)  # a class mean at the origin has no direction to push from
    return -torch.sign(slopes.fill_diagonal_(0).sum(1))
