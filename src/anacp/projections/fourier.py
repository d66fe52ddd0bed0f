"""Random Fourier features: inner products that tend to the Gaussian kernel (Rahimi and Recht, 2007)."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from anacp.randomness import generator, standard_normal

# Phases are normal, of deviation √(2γ)‖x‖; few are further out than this many deviations.
PHASES_REACH = 3.0


@dataclass(frozen=True)
class FourierProjection:
    """z = √(2/m)·cos(xΩ + b), Ω ~ N(0, 2γ), b ~ U[0, 2π]: ⟨z(x), z(y)⟩ tends to exp(-γ‖x - y‖²) with m.

    Rebuilt from (seed, role), so never stored.
    """

    n_features: int
    n_outputs: int
    gamma: float
    seed: int
    role: str
    device: str = "cpu"
    dtype: torch.dtype = torch.float32

    @cached_property
    def matrix(self) -> Tensor:
        """Ω (d, m)."""
        drawn = standard_normal(self.seed, self.role, self.n_features, self.n_outputs) * math.sqrt(2 * self.gamma)
        return drawn.to(device=self.device, dtype=self.dtype)

    @cached_property
    def phases(self) -> Tensor:
        """B (m,)."""
        drawn = torch.rand(self.n_outputs, generator=generator(self.seed, f"{self.role}/phases"), dtype=torch.float32)
        return (2 * math.pi * drawn).to(device=self.device, dtype=self.dtype)

    def amplification(self, x: Tensor) -> float:
        """Return how many times the rounding of a row its features carry: as many as a phase has radians."""
        longest = float(torch.linalg.vector_norm(x, dim=1, dtype=torch.promote_types(x.dtype, torch.float32)).max())
        return max(1.0, PHASES_REACH * math.sqrt(2 * self.gamma) * longest)

    def portable(self) -> Self:
        """Return the same in float32 on the CPU, drawn already: a graph that is exported cannot draw it."""
        twin = replace(self, device="cpu", dtype=torch.float32)
        twin.matrix, twin.phases  # noqa: B018
        return twin

    def __call__(self, x: Tensor) -> Tensor:
        """Return z (n, m)."""
        return torch.addmm(self.phases, x, self.matrix).cos_().mul_(math.sqrt(2 / self.n_outputs))
