"""Dense linear algebra on tensors: symmetric accumulation, positive-definite solves, matrix roots."""

from anacp.linalg.roots import cholesky_factor, symmetric_roots
from anacp.linalg.solve import solve_psd
from anacp.linalg.symmetric import add_gram_, pack_triangle, unpack_triangle

__all__ = ["add_gram_", "cholesky_factor", "pack_triangle", "solve_psd", "symmetric_roots", "unpack_triangle"]
