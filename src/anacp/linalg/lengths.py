"""Rows of length one, and numbers brought near one: by exact powers of two, so that no digit is lost on the way."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

# Between these, squares and their sums neither overflow nor vanish in float32, whatever they are multiplied with next.
SMALLEST, LARGEST = 1e-12, 1e15


def unit_rows(rows: Tensor) -> Tensor:
    """Return rows (n, d) scaled to length one, however long or short they are; zeros stay zeros."""
    unit = F.normalize(rows, dim=1)
    odd = ~ordinary_rows(rows)
    if bool(odd.any()):
        unit[odd] = F.normalize(near_one(rows[odd]), dim=1)
    return unit


def ordinary_rows(rows: Tensor) -> Tensor:
    """Say which rows (n,) can be squared in float32 without loss."""
    largest = rows.abs().amax(1)
    return (largest == 0) | ((largest >= SMALLEST) & (largest <= LARGEST))


def near_one(rows: Tensor) -> Tensor:
    """Return each row times the power of two that brings its largest number between a half and one."""
    exponents = torch.frexp(rows.abs().amax(1, keepdim=True)).exponent
    half = torch.div(exponents, 2, rounding_mode="floor")  # one power may be too large for the precision, its root not
    return torch.ldexp(torch.ldexp(rows, -half), half - exponents)


def narrowed(dtype: torch.dtype, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Return (…, c) tensors in another precision, or as they are where that would bring a column near its ends."""
    largest = torch.stack([tensor.abs().reshape(-1, tensor.shape[-1]).amax(0) for tensor in tensors])
    fit = (largest == 0) | ((largest >= SMALLEST**2) & (largest <= LARGEST))
    return tuple(tensor.to(dtype) for tensor in tensors) if bool(fit.all()) else tensors
