"""The random projection layer z = φ(xR) (Eq. 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.randomness import standard_normal

Activation = Literal["gelu", "relu", "tanh", "identity"]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "identity": torch.clone,
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

    def activate(self, preactivations: Tensor) -> Tensor:
        """Return φ, entry by entry."""
        return ACTIVATIONS[self.activation](preactivations)

    def __call__(self, x: Tensor) -> Tensor:
        """Return φ(xR) (n, m)."""
        return self.activate(x @ self.matrix)
