"""The one place where a positive-definite system is solved."""

import scipy.linalg
import torch
from torch import Tensor

from anacp.errors import NumericalError
from anacp.linalg.triangle import Triangle


def solve_psd(a: Triangle, b: Tensor, *, shift: float) -> Tensor:
    """Return (a + shift·I)⁻¹ b for a symmetric positive semi-definite `a`.

    Falls back from float32 to float64 when the factorisation breaks down, and says what to change when that fails too.
    """
    work = a.dense()
    work.diagonal().add_(shift)
    solution = _solve_in_place(work, b)
    if solution is None and a.dtype == torch.float32:
        return solve_psd(a.to(torch.float64), b.double(), shift=shift).to(b.dtype)
    if solution is None or not bool(torch.isfinite(solution).all()):
        raise NumericalError(
            f"Cannot solve a {len(a)}x{len(a)} system with ridge {shift:g}: the matrix is not positive definite. "
            "Raise `ridge`, or use dtype='float64'."
        )
    return solution


def _solve_in_place(a: Tensor, b: Tensor) -> Tensor | None:
    """Overwrite `a` with its Cholesky factor and solve; None when `a` is not positive definite."""
    if a.device.type != "cpu":
        factor, info = torch.linalg.cholesky_ex(a)
        return None if int(info) else torch.cholesky_solve(b, factor)
    # LAPACK through scipy factors in place; torch would copy the matrix twice. The transposed view of a row-major
    # lower triangle is the column-major upper triangle that LAPACK wants.
    try:
        factor = scipy.linalg.cho_factor(a.numpy().T, lower=False, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    return torch.from_numpy(scipy.linalg.cho_solve(factor, b.numpy(), check_finite=False)).contiguous()
