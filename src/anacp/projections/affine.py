"""The input itself, with a constant beside it."""

from dataclasses import dataclass

import torch.nn.functional as F  # noqa: N812
from torch import Tensor


@dataclass(frozen=True)
class Affine:
    """(x, 1): a linear model of it has an intercept."""

    n_features: int

    @property
    def n_outputs(self) -> int:
        """One more than the input."""
        return self.n_features + 1

    def __call__(self, x: Tensor) -> Tensor:
        """Return (x, 1) (n, d + 1)."""
        return F.pad(x, (0, 1), value=1.0)
