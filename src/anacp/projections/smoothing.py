"""Activations seen through Gaussian noise: E[φ(a)], E[φ'(a)] and E[φ''(a)] for a ~ N(m, σ²)."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from anacp.projections.random import Activation

# Points of Gauss-Hermite quadrature, where there is no closed form: enough for float32.
POINTS = 40


def smoothed(activation: "Activation", means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return E[φ], E[φ'] and E[φ''], each of the shape of the means (c, m); variances (m,) are those of all rows."""
    return _SMOOTHED[activation](means, variances)


def _gelu(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """With s² = 1 + σ² and t = m/s: mΦ(t) + σ²/s·ϕ(t), Φ(t) + tϕ(t)/s², ϕ(t)/s·(1 + (1 - t²)/s²)."""
    squared = 1 + variances
    deviations = squared.sqrt()
    t = means / deviations
    below, density = torch.special.ndtr(t), _density(t)
    value = (means * below).addcmul_(density, (variances / deviations).expand_as(density))
    bend = (1 + 1 / squared - t.square() / squared).mul_(density).div_(deviations)
    return value, below.addcmul_(t, density.div_(squared)), bend


def _relu(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """With t = m/σ: mΦ(t) + σϕ(t), Φ(t), ϕ(t)/σ."""
    deviations = variances.clamp_min(torch.finfo(means.dtype).tiny).sqrt()
    t = means / deviations
    below, density = torch.special.ndtr(t), _density(t)
    return means * below + deviations * density, below, density / deviations


def _tanh(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """By quadrature, with φ' = 1 - φ² and φ'' = -2φφ'."""
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    deviations = variances.sqrt()
    value, slope, bend = (torch.zeros_like(means) for _ in range(3))
    for point, weight in zip(points.tolist(), (weights / weights.sum()).tolist(), strict=True):
        at = torch.tanh(means + point * deviations)
        steep = 1 - at.square()
        value += weight * at
        slope += weight * steep
        bend -= 2 * weight * at * steep
    return value, slope, bend


def _identity(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return means, torch.ones_like(means), torch.zeros_like(means)


def _density(t: Tensor) -> Tensor:
    return torch.exp(-t.square() / 2) / math.sqrt(2 * math.pi)


_SMOOTHED: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]] = {
    "gelu": _gelu,
    "relu": _relu,
    "tanh": _tanh,
    "identity": _identity,
}
