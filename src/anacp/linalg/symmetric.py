"""Symmetric matrices, of which only the lower triangle is computed, read and stored."""

import torch
from torch import Tensor

__all__ = ["add_gram_", "lower_gram", "pack_triangle", "symmetric", "symmetric_product", "unpack_triangle"]

# Columns per product: narrow enough to waste little above the diagonal, wide enough for full GEMM speed.
BLOCK = 500


def add_gram_(gram: Tensor, rows: Tensor, *, sign: int = 1) -> None:
    """Add sign · rowsᵀ rows to the lower triangle of `gram` in place; what lies above it is left unspecified.

    Torch has no symmetric rank-k update, so one triangle is covered by block columns. When a product fails, those
    already added are taken back.
    """
    done = 0
    try:
        for start in range(0, len(gram), BLOCK):
            stop = start + BLOCK
            gram[start:stop, :stop].addmm_(rows[:, start:stop].mT, rows[:, :stop], alpha=sign)
            done = stop
    except BaseException:
        if done:
            add_gram_(gram[:done, :done], rows[:, :done], sign=-sign)
        raise


def lower_gram(rows: Tensor) -> Tensor:
    """Return rowsᵀ rows (m, m), its lower triangle."""
    result = rows.new_zeros(rows.shape[1], rows.shape[1])
    add_gram_(result, rows)
    return result


def symmetric(lower: Tensor) -> Tensor:
    """Return the full symmetric matrix (m, m) of a lower triangle."""
    return lower.tril() + lower.tril(-1).mT


def symmetric_product(lower: Tensor, columns: Tensor) -> Tensor:
    """Return the symmetric matrix (m, m) of a lower triangle times columns (m, k), without making a copy of it."""
    product = torch.empty_like(columns)
    for start in range(0, len(lower), BLOCK):
        block = slice(start, start + BLOCK)
        left = lower[block, :start]
        product[block] = left @ columns[:start] + symmetric(lower[block, block]) @ columns[block]
        product[:start] += left.mT @ columns[block]
    return product


def pack_triangle(matrix: Tensor) -> Tensor:
    """Return the lower triangles of (…, m, m) row after row as vectors of m(m+1)/2 numbers."""
    if matrix.is_meta:  # sizes only
        size = matrix.shape[-1]
        return matrix.new_empty(*matrix.shape[:-2], size * (size + 1) // 2)
    return torch.cat([matrix[..., i, : i + 1] for i in range(matrix.shape[-1])], dim=-1)


def unpack_triangle(packed: Tensor, size: int) -> Tensor:
    """Return the (…, m, m) matrices whose lower triangles were packed; zeros above."""
    matrix = packed.new_zeros(*packed.shape[:-1], size, size)
    start = 0
    for i in range(size):
        matrix[..., i, : i + 1] = packed[..., start : start + i + 1]
        start += i + 1
    return matrix
