"""Activations seen through Gaussian noise: E[φ(a)], E[φ'(a)] and E[φ''(a)] for a ~ N(m, σ²)."""

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from anacp.projections.random import Activation

# Points of Gauss-Hermite quadrature, where there is no closed form: enough for float32.
POINTS = 40


def smoothed(activation: "Activation", means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor]:
    """Return E[φ] and E[φ'], each of the shape of the means (c, m); variances (m,) are those of all rows."""
    return _SMOOTHED[activation](means, variances)


def smoothed_bend(activation: "Activation", means: Tensor, variances: Tensor) -> Tensor:
    """Return E[φ''] (c, m) of the same."""
    return _BENDS[activation](means, variances)


def _gelu(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor]:
    """With s² = 1 + σ² and t = m/s: mΦ(t) + σ²/s·ϕ(t), Φ(t) + tϕ(t)/s²."""
    squared = 1 + variances
    deviations = squared.sqrt()
    t = means / deviations
    below, density = torch.special.ndtr(t), _density(t)
    value = (means * below).addcmul_(density, (variances / deviations).expand_as(density))
    return value, below.addcmul_(t, density.div_(squared))


def _gelu_bend(means: Tensor, variances: Tensor) -> Tensor:
    """ϕ(t)/s·(1 + (1 - t²)/s²)."""
    squared = 1 + variances
    deviations = squared.sqrt()
    t = means / deviations
    return _density(t).mul_(1 + 1 / squared - t.square_().div_(squared)).div_(deviations)


def _relu(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor]:
    """With t = m/σ: mΦ(t) + σϕ(t), Φ(t)."""
    deviations = _above_zero(variances, means).sqrt()
    t = means / deviations
    below = torch.special.ndtr(t)
    return means * below + deviations * _density(t), below


def _relu_bend(means: Tensor, variances: Tensor) -> Tensor:
    """ϕ(t)/σ."""
    deviations = _above_zero(variances, means).sqrt()
    return _density(means / deviations) / deviations


def _tanh(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor]:
    """By quadrature, with φ' = 1 - φ²."""
    value, slope = torch.zeros_like(means), torch.zeros_like(means)
    for weight, at in _at_points(means, variances):
        value += weight * at
        slope += weight * (1 - at.square())
    return value, slope


def _tanh_bend(means: Tensor, variances: Tensor) -> Tensor:
    """By quadrature, with φ'' = -2φφ'."""
    return sum((-2 * weight * at * (1 - at.square()) for weight, at in _at_points(means, variances)), means * 0)


def _at_points(means: Tensor, variances: Tensor) -> Iterator[tuple[float, Tensor]]:
    """Yield each point of the quadrature: its weight, and φ there."""
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    deviations = variances.sqrt()
    for point, weight in zip(points.tolist(), (weights / weights.sum()).tolist(), strict=True):
        yield weight, torch.tanh(means + point * deviations)


def _identity(means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor]:
    return means, torch.ones_like(means)


def _identity_bend(means: Tensor, variances: Tensor) -> Tensor:
    return torch.zeros_like(means)


def _above_zero(variances: Tensor, like: Tensor) -> Tensor:
    return variances.clamp_min(torch.finfo(like.dtype).tiny)


def _density(t: Tensor) -> Tensor:
    return t.square().mul_(-0.5).exp_().mul_(1 / math.sqrt(2 * math.pi))


_SMOOTHED: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "gelu": _gelu,
    "relu": _relu,
    "tanh": _tanh,
    "identity": _identity,
}
_BENDS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "gelu": _gelu_bend,
    "relu": _relu_bend,
    "tanh": _tanh_bend,
    "identity": _identity_bend,
}
