"""Dense linear algebra on tensors: symmetric accumulation, positive-definite solves, eigenvalues, matrix roots."""

from anacp.linalg.eigen import Eigen, eigen_psd, largest_eigenvalue, low_rank_factor
from anacp.linalg.roots import cholesky_factor, symmetric_roots
from anacp.linalg.solve import solve_psd
from anacp.linalg.symmetric import add_gram_, pack_triangle, symmetric, symmetric_product, unpack_triangle

__all__ = [
    "Eigen",
    "add_gram_",
    "cholesky_factor",
    "eigen_psd",
    "largest_eigenvalue",
    "low_rank_factor",
    "pack_triangle",
    "solve_psd",
    "symmetric",
    "symmetric_product",
    "symmetric_roots",
    "unpack_triangle",
]
