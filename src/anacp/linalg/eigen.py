"""Eigendecomposition of positive semi-definite matrices, fast when their rank is low."""

import torch
from torch import Tensor

from anacp.linalg.triangle import Triangle, symmetric

# What is left of the diagonal, relative to its largest entry, when nothing but rounding error of a sum accumulated in
# that precision remains.
NEGLIGIBLE = {torch.float32: 1e-5, torch.float64: 1e-13}
# Enough for two digits of the largest eigenvalue, unless the second is nearly as large: then it is as good.
POWER_STEPS = 20
# Columns eliminated at a time: enough for full GEMM speed, but only a part of a small matrix, whose rank may be lower.
N_BLOCKS, NARROWEST, WIDEST = 16, 64, 512


def low_rank_factor(a: Triangle, beside: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return F (m, r) with F Fᵀ = a for a positive semi-definite `a`, and T (k, r).

    T Fᵀ = `beside` for rows (k, m) in the span of `a`, by default none.

    A Cholesky factorisation pivoted block by block: the columns with the most left on the diagonal are eliminated
    together. It stops when nothing but rounding error is left, so that r is the numerical rank.
    """
    factored = _low_rank_factor(a.dense(), beside, at_most=len(a))
    assert factored is not None
    return factored


def largest_eigenvalue(a: Triangle) -> float:
    """Return about the largest eigenvalue of a positive semi-definite `a`, from below."""
    if not len(a):
        return 0.0
    vector = a.times(torch.ones(len(a), 1).to(a.strips[0]))
    for _ in range(POWER_STEPS):
        vector = a.times(vector / vector.norm().clamp_min(torch.finfo(a.dtype).tiny))
    return float(vector.norm())


def spectrum_psd(a: Triangle, beside: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positive eigenvalues (r,) of `a`, ascending, and how much of `beside` lies along their vectors (r,).

    That is the squared length of each column of `beside` · U, in float64: U (m, r) has the eigenvectors, and the rows
    `beside` (k, m) lie in their span. A matrix of low rank r is factored first: the work is then m·r² instead of m³.
    """
    dense = a.dense()
    factored = _low_rank_factor(dense, beside, at_most=len(a) // 2)
    if factored is not None:
        return spectrum_of_factor(*factored)
    values, vectors = torch.linalg.eigh(symmetric(dense))
    # Not relative to the largest eigenvalue: the mean of positive features makes that one far larger than all others.
    positive = values > _negligible(dense.diagonal())
    return values[positive], _squares(beside, vectors[:, positive])


def spectrum_of_factor(factor: Tensor, coordinates: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same for F Fᵀ, given F (m, r) and the rows as `coordinates` (k, r) · Fᵀ."""
    values, vectors = torch.linalg.eigh(factor.mT @ factor)
    positive = values > _negligible(factor.square().sum(1))
    values = values[positive]
    return values, _squares(coordinates, vectors[:, positive] * values.sqrt())


def _squares(rows: Tensor, vectors: Tensor) -> Tensor:
    """Return the squared length of each column of `rows` · `vectors`, in float64."""
    total = torch.zeros(vectors.shape[1], dtype=torch.float64, device=rows.device)
    for block in torch.split(rows, WIDEST):
        total += (block @ vectors).double().square().sum(0)
    return total


def _low_rank_factor(a: Tensor, beside: Tensor | None, *, at_most: int) -> tuple[Tensor, Tensor] | None:
    """Factor a dense matrix of which the lower triangle is read; None if its rank is more than `at_most`."""
    beside = a.new_zeros(0, len(a)) if beside is None else beside
    left = a.diagonal().clone()
    tolerance = _negligible(a.diagonal())
    width = min(max(len(a) // N_BLOCKS, NARROWEST), WIDEST)
    blocks: list[Tensor] = []
    rank = 0
    while rank < len(a):
        most, pivots = torch.topk(left, min(width, len(a) - rank))
        pivots = pivots[most > tolerance]
        if not len(pivots):
            break
        columns = torch.cat([_columns(a, pivots), beside[:, pivots]])
        for block in blocks:
            columns.addmm_(block, block[pivots].mT, alpha=-1)
        values, vectors = torch.linalg.eigh(columns[pivots])
        kept = values > tolerance
        if not bool(kept.any()):
            break
        blocks.append(columns @ (vectors[:, kept] / values[kept].sqrt()))
        rank += blocks[-1].shape[1]
        if rank > at_most:
            return None
        left -= blocks[-1][: len(a)].square().sum(1)
        left[pivots] = 0  # eliminated; what rounding leaves there must not be eliminated again
    rows = torch.cat(blocks, dim=1) if blocks else a.new_zeros(len(a) + len(beside), 0)
    return rows[: len(a)], rows[len(a) :]


def _negligible(diagonal: Tensor) -> float:
    return NEGLIGIBLE[diagonal.dtype] * float(diagonal.max().clamp_min(0)) if len(diagonal) else 0.0


def _columns(a: Tensor, index: Tensor) -> Tensor:
    """Return columns (m, k) of a symmetric matrix given by its lower triangle."""
    below = torch.arange(len(a), device=a.device)[:, None] >= index
    return torch.where(below, a[:, index], a[index].mT)
