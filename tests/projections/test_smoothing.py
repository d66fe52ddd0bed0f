"""Smoothed activations against a million draws, and against each other's differences."""

import pytest
import torch

from anacp.projections import ACTIVATIONS, smoothed, smoothed_bend

MEANS = torch.tensor([-2.0, -0.5, 0.0, 0.3, 1.0, 4.0], dtype=torch.float64)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("variance", [0.01, 0.5, 4.0])
def test_the_first_is_the_mean_over_noise(activation: str, variance: float) -> None:
    noise = torch.randn(1_000_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    drawn = ACTIVATIONS[activation](MEANS[:, None] + variance**0.5 * noise)
    value, _ = smoothed(activation, MEANS, torch.full_like(MEANS, variance))
    torch.testing.assert_close(value, drawn.mean(1), atol=5e-3 * (1 + variance) ** 0.5, rtol=0)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("variance", [0.25, 4.0])
def test_the_others_are_its_derivatives(activation: str, variance: float) -> None:
    step, variances = 1e-3, torch.full_like(MEANS, variance)
    before, at, after = (smoothed(activation, MEANS + shift, variances) for shift in (-step, 0, step))
    torch.testing.assert_close((after[0] - before[0]) / (2 * step), at[1], atol=1e-5, rtol=0)
    bend = smoothed_bend(activation, MEANS, variances)
    torch.testing.assert_close((after[1] - before[1]) / (2 * step), bend, atol=1e-5, rtol=0)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_without_noise_it_is_the_activation(activation: str) -> None:
    value, slope = smoothed(activation, MEANS, torch.zeros_like(MEANS))
    torch.testing.assert_close(value, ACTIVATIONS[activation](MEANS))
    assert torch.isfinite(slope).all()
    assert torch.isfinite(smoothed_bend(activation, MEANS, torch.zeros_like(MEANS))).all()
