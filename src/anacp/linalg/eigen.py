"""Eigendecomposition of positive semi-definite matrices, fast when their rank is low."""

import numpy as np
import scipy.linalg
import torch
from torch import Tensor

from anacp.linalg.symmetric import symmetric

__all__ = ["eigen_psd", "low_rank_factor"]

# What a pivot may lose against the largest before it is rounding error of a sum accumulated in that precision.
NEGLIGIBLE_PIVOT = {torch.float32: 1e-5, torch.float64: 1e-13}


def low_rank_factor(a: Tensor) -> Tensor:
    """Return F (m, r) with F Fᵀ = a for a positive semi-definite `a` given by its lower triangle.

    A pivoted Cholesky factorisation, stopped when nothing but rounding error is left: r is the numerical rank.
    """
    tolerance = NEGLIGIBLE_PIVOT[a.dtype] * float(a.diagonal().max().clamp_min(0))
    (factorize,) = scipy.linalg.lapack.get_lapack_funcs(("pstrf",), dtype=a.cpu().numpy().dtype)
    # The transposed view of a row-major lower triangle is the column-major upper triangle that LAPACK wants.
    factor, pivots, rank, _ = factorize(a.cpu().numpy().T, tol=tolerance, lower=0)
    result = np.empty((len(factor), rank), dtype=factor.dtype)
    result[pivots - 1] = np.triu(factor)[:rank].T
    return torch.from_numpy(result).to(a.device)


def eigen_psd(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positive eigenvalues (r,), ascending, and their vectors (m, r), of `a` given by its lower triangle.

    A matrix of low rank r is factored first: the work is then m·r² instead of m³.
    """
    factor = low_rank_factor(a)
    if 2 * factor.shape[1] > len(a):
        values, vectors = torch.linalg.eigh(symmetric(a))
    else:
        values, vectors = torch.linalg.eigh(factor.mT @ factor)
        vectors = factor @ (vectors / values.clamp_min(torch.finfo(a.dtype).tiny).sqrt())
    positive = values > len(a) * torch.finfo(a.dtype).eps * values.max().clamp_min(0) if len(values) else values > 0
    return values[positive], vectors[:, positive]
