"""Square roots of symmetric positive semi-definite matrices."""

from typing import cast

import scipy.linalg
import torch
from torch import Tensor

from anacp.errors import NumericalError

# An eigenvalue this far below the largest carries rounding error only: inverting it would amplify noise.
NEGLIGIBLE = 1e-8


def cholesky_factor(a: Tensor) -> Tensor:
    """Return the lower-triangular L with L Lᵀ = a, for one matrix or a batch."""
    if a.ndim == 2 and a.device.type == "cpu":
        # LAPACK through scipy; torch would copy and clear the matrix in passes of its own, which cost as much again.
        try:
            return torch.from_numpy(scipy.linalg.cholesky(a.numpy().T, check_finite=False).T)
        except scipy.linalg.LinAlgError as problem:
            raise _not_positive(a) from problem
    factor, info = torch.linalg.cholesky_ex(a)
    if bool(info.any()):
        raise _not_positive(a)
    return cast(Tensor, factor)


def _not_positive(a: Tensor) -> NumericalError:
    return NumericalError(
        f"Cannot factor a covariance of {a.shape[-1]} features: it is not positive definite. "
        "Check the features for extreme values, or use normalize=True."
    )


def symmetric_roots(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return a^{1/2} and the pseudo-inverse a^{-1/2}, both symmetric."""
    values, vectors = torch.linalg.eigh(a)
    kept = values > NEGLIGIBLE * values[-1:].clamp_min(0)
    root = torch.where(kept, values, 0).sqrt()
    inverse = torch.where(kept, root.reciprocal(), 0)
    return (vectors * root) @ vectors.mT, (vectors * inverse) @ vectors.mT
