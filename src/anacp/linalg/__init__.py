"""Dense linear algebra on tensors: symmetric accumulation, positive-definite solves, eigenvalues, matrix roots."""

from anacp.linalg.eigen import largest_eigenvalue, low_rank_factor, spectrum_of_factor, spectrum_psd
from anacp.linalg.lengths import narrowed, near_one, ordinary_rows, unit_rows
from anacp.linalg.roots import cholesky_factor, symmetric_roots
from anacp.linalg.solve import Factor, checked, column_blocks, factor_psd, solve_psd
from anacp.linalg.triangle import FILLED_STRIP, Triangle, fresh_matrix, fresh_weights, symmetric

__all__ = [
    "FILLED_STRIP",
    "Factor",
    "Triangle",
    "checked",
    "cholesky_factor",
    "column_blocks",
    "factor_psd",
    "fresh_matrix",
    "fresh_weights",
    "largest_eigenvalue",
    "low_rank_factor",
    "narrowed",
    "near_one",
    "ordinary_rows",
    "solve_psd",
    "spectrum_of_factor",
    "spectrum_psd",
    "symmetric",
    "symmetric_roots",
    "unit_rows",
]
