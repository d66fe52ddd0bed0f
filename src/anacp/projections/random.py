"""The random projection layer z = φ(xR) (Eq. 4)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.projections.smoothing import smoothed
from anacp.randomness import standard_normal

Activation = Literal["gelu", "relu", "tanh", "identity"]


def _gelu(preactivations: Tensor) -> Tensor:
    traced = torch._C._get_tracing_state() is not None  # graphs have no name for the other
    activated: Tensor = F.gelu(preactivations) if traced else torch.ops.aten.gelu_(preactivations)
    return activated


# In place: what is activated has just been computed, and fresh memory costs more than the activation.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": _gelu,
    "relu": torch.relu_,
    "tanh": torch.tanh_,
    "identity": lambda preactivations: preactivations,
}


@dataclass(frozen=True)
class RandomProjection:
    """A frozen matrix R with N(0, 1) entries and an activation φ. Rebuilt from (seed, role), so never stored."""

    n_features: int
    n_outputs: int
    activation: Activation
    seed: int
    role: str
    device: str = "cpu"
    dtype: torch.dtype = torch.float32

    @cached_property
    def matrix(self) -> Tensor:
        """R (d, m)."""
        drawn = standard_normal(self.seed, self.role, self.n_features, self.n_outputs)
        return drawn.to(device=self.device, dtype=self.dtype)

    def linear(self, x: Tensor) -> Tensor:
        """Return xR (n, m)."""
        return x @ self.matrix

    def adjoint(self, y: Tensor) -> Tensor:
        """Return yRᵀ (n, d)."""
        return y @ self.matrix.mT

    def variances(self, covariance: Tensor) -> Tensor:
        """Return the diagonal of RᵀΣR (m,): how outputs vary when inputs vary by Σ (d, d)."""
        return (self.matrix * (covariance @ self.matrix)).sum(0)

    def activate(self, preactivations: Tensor) -> Tensor:
        """Return φ, entry by entry, in place."""
        return ACTIVATIONS[self.activation](preactivations)

    def portable(self) -> Self:
        """Return the same in float32 on the CPU, drawn already: a graph that is exported cannot draw it."""
        twin = replace(self, device="cpu", dtype=torch.float32)
        twin.matrix  # noqa: B018
        return twin

    def smoothed(self, preactivations: Tensor, variances: Tensor) -> tuple[Tensor, Tensor]:
        """Return E[φ] and E[φ'] around pre-activations, of Gaussian noise with these variances."""
        return smoothed(self.activation, preactivations, variances)

    def __call__(self, x: Tensor) -> Tensor:
        """Return φ(xR) (n, m)."""
        return self.activate(self.linear(x))
