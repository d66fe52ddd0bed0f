"""The one place where a positive-definite system is solved."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import scipy.linalg
import torch
from torch import Tensor

from anacp.errors import NumericalError
from anacp.linalg.triangle import Triangle, fresh_matrix, fresh_weights

# A float32 factor whose smallest pivot is less than this share of the largest has hardly a digit right, and only by the
# luck of its rounding was found at all: float64 then has to do.
HARDLY_POSITIVE = 32 * torch.finfo(torch.float32).eps
# Right-hand sides solved at a time: enough for full speed, so few that little lies beside the result.
COLUMNS = 512


def column_blocks(n_columns: int, size: int = COLUMNS) -> Iterator[slice]:
    """Cut a number of columns into slices of at most `size`."""
    return (slice(start, min(start + size, n_columns)) for start in range(0, n_columns, size))


@dataclass(frozen=True, eq=False)
class Factor:
    """The Cholesky factor of a positive-definite matrix, to solve with as often as one likes."""

    factor: Any  # a tensor; on a CPU an array that LAPACK reads as it lies
    dtype: torch.dtype

    def solve(self, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Return a⁻¹ b (m, k) in the precision of b, written to `out` if that is given, which may be b itself."""
        if out is None and b.shape[1] <= COLUMNS:
            return self._solved(b)
        result = fresh_weights(b, *b.shape) if out is None else out
        for columns in column_blocks(b.shape[1]):
            result[:, columns] = self._solved(b[:, columns])
        return result

    def _solved(self, b: Tensor) -> Tensor:
        wide = b.to(self.dtype)
        if isinstance(self.factor, Tensor):
            return torch.cholesky_solve(wide, self.factor).to(b.dtype)
        solved = scipy.linalg.cho_solve((self.factor, False), wide.numpy(), check_finite=False)
        return torch.from_numpy(solved).to(b.dtype)

    def __len__(self) -> int:
        return len(self.factor)

    @property
    def lower(self) -> Tensor:
        """L with L Lᵀ = a; what lies above the diagonal is unspecified."""
        return self.factor if isinstance(self.factor, Tensor) else torch.from_numpy(self.factor.T)

    def first(self, n: int) -> "Factor":
        """Return the factor of the first n rows and columns."""
        return self if n == len(self) else Factor(self.factor[:n, :n], self.dtype)

    def extended(self, cross: Tensor, corner: Tensor) -> "Factor":
        """Return the factor of [[a, crossᵀ], [cross, corner]]: n rows more cost n·m² instead of (m + n)³ / 3.

        Raises
        ------
        NumericalError
            If that matrix is not positive definite in this precision.
        """
        m, n = len(self), len(corner)
        below = torch.linalg.solve_triangular(self.lower.mT, cross, upper=True, left=False)  # cross L⁻ᵀ (n, m)
        last = factor_psd(Triangle((corner - below @ below.mT,)), shift=0.0)
        whole = fresh_matrix(corner, m + n, m + n)
        whole[:m, :m], whole[m:, :m], whole[m:, m:] = self.lower, below, last.lower.to(corner.dtype)
        return Factor(whole.numpy().T if whole.device.type == "cpu" else whole, self.dtype)


def factor_psd(a: Triangle, *, shift: float, give_up: bool = False) -> Factor:
    """Return the factor of a + shift·I for a symmetric positive semi-definite `a`.

    Falls back from float32 to float64 when the factorisation breaks down, and says what to change when that fails too.
    With `give_up`, `a` is not used any more and may be overwritten; then there is nothing left to fall back on.
    """
    work = a.given_up() if give_up else a.dense()
    work.diagonal().add_(shift)
    factor = _factored_in_place(work)
    if factor is None and a.dtype == torch.float32 and work is not a.whole:
        return factor_psd(a.to(torch.float64), shift=shift)
    if factor is None:
        raise _not_positive(len(a), shift)
    return factor


def solve_psd(a: Triangle, b: Tensor, *, shift: float) -> Tensor:
    """Return (a + shift·I)⁻¹ b for a symmetric positive semi-definite `a`."""
    return checked(factor_psd(a, shift=shift).solve(b), len(a), shift)


def checked(solution: Tensor, size: int, shift: float) -> Tensor:
    """Return a solution that is finite, or say what to change."""
    rows = solution if solution.stride(-1) == 1 else solution.mT  # as they lie
    for part in torch.split(rows, COLUMNS):
        total = part.sum(dtype=torch.float64)  # finite only if all of it is, and told in one pass
        if not bool(torch.isfinite(total)) and not bool(torch.isfinite(part).all()):
            raise _not_positive(size, shift)
    return solution


def _not_positive(size: int, shift: float) -> NumericalError:
    return NumericalError(
        f"Cannot solve a {size}x{size} system with ridge {shift:g}: the matrix is not positive definite. "
        "Raise `ridge`, or use dtype='float64'."
    )


def _factored_in_place(a: Tensor) -> Factor | None:
    """Overwrite `a` with its Cholesky factor; None when `a` is not positive definite, or hardly."""
    if a.device.type != "cpu":
        factor, info = torch.linalg.cholesky_ex(a)
        return None if int(info) else Factor(factor, a.dtype)
    # LAPACK through scipy factors in place; torch would copy the matrix twice. The transposed view of a row-major
    # lower triangle is the column-major upper triangle that LAPACK wants.
    try:
        array, _ = scipy.linalg.cho_factor(a.numpy().T, lower=False, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    diagonal = array.diagonal()
    hardly = len(a) and a.dtype == torch.float32 and float(diagonal.min() / diagonal.max()) ** 2 < HARDLY_POSITIVE
    return None if hardly else Factor(array, a.dtype)
