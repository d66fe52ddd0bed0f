"""Square roots of symmetric positive semi-definite matrices."""

from typing import cast

import torch
from torch import Tensor

from anacp.errors import NumericalError

# An eigenvalue this far below the largest carries rounding error only: inverting it would amplify noise.
NEGLIGIBLE = 1e-8


def cholesky_factor(a: Tensor) -> Tensor:
    """Return the lower-triangular L with L Lᵀ = a, for one matrix or a batch."""
    factor, info = torch.linalg.cholesky_ex(a)
    if bool(info.any()):
        raise NumericalError(
            f"Cannot factor a covariance of {a.shape[-1]} features: it is not positive definite. "
            "Check the features for extreme values, or use normalize=True."
        )
    return cast(Tensor, factor)


def symmetric_roots(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return a^{1/2} and the pseudo-inverse a^{-1/2}, both symmetric."""
    values, vectors = torch.linalg.eigh(a)
    kept = values > NEGLIGIBLE * values[-1:].clamp_min(0)
    root = torch.where(kept, values, 0).sqrt()
    inverse = torch.where(kept, root.reciprocal(), 0)
    return (vectors * root) @ vectors.mT, (vectors * inverse) @ vectors.mT
