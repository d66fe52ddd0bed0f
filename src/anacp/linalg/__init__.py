"""Dense linear algebra on tensors: symmetric accumulation, positive-definite solves, eigenvalues, matrix roots."""

from anacp.linalg.eigen import largest_eigenvalue, low_rank_factor, spectrum_psd
from anacp.linalg.roots import cholesky_factor, symmetric_roots
from anacp.linalg.solve import solve_psd
from anacp.linalg.symmetric import add_gram_, lower_gram, pack_triangle, symmetric, symmetric_product, unpack_triangle

__all__ = [
    "add_gram_",
    "cholesky_factor",
    "largest_eigenvalue",
    "low_rank_factor",
    "lower_gram",
    "pack_triangle",
    "solve_psd",
    "spectrum_psd",
    "symmetric",
    "symmetric_product",
    "symmetric_roots",
    "unpack_triangle",
]
