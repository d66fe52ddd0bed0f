"""Randomness has a name: every draw is a function of (seed, role), so that no other draw can move it."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["bell_shaped", "generator", "random_signs", "standard_normal"]

# The sum of four bytes is nearly normal, and exact on every machine; its mean, and its deviation √(4·(256² - 1)/12).
BYTES = 4
MEAN, DEVIATION = BYTES * 255 // 2, math.sqrt(BYTES * (256**2 - 1) / 12)


def generator(seed: int, role: str) -> torch.Generator:
    """Return a fresh generator for one named purpose. The global random state is neither read nor set."""
    import torch

    digest = hashlib.blake2b(f"{seed}/{role}".encode(), digest_size=7).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big"))


def standard_normal(seed: int, role: str, *shape: int) -> Tensor:
    """Draw N(0, 1) entries in float32 on the CPU, so that the numbers are the same for every device and dtype."""
    import torch

    return torch.randn(shape, generator=generator(seed, role), dtype=torch.float32)


def random_signs(seed: int, role: str, size: int) -> NDArray[np.int8]:
    """Return +1 and -1 (size,), the same on every machine, without torch."""
    bits = np.unpackbits(_stream(seed, f"{role}/signs", -(-size // 8)))[:size]
    return (2 * bits.astype(np.int8) - 1).astype(np.int8)


def bell_shaped(seed: int, role: str, *shape: int) -> NDArray[np.int16]:
    """Return whole numbers of mean 0 and deviation `DEVIATION`, nearly normal, the same on every machine."""
    drawn = _stream(seed, f"{role}/bell", BYTES * int(np.prod(shape)))
    sums: NDArray[np.int16] = drawn.reshape(*shape, BYTES).sum(-1, dtype=np.int16) - np.int16(MEAN)
    return sums


def _stream(seed: int, role: str, n_bytes: int) -> NDArray[np.uint8]:
    return np.frombuffer(hashlib.shake_128(f"{seed}/{role}".encode()).digest(n_bytes), np.uint8)
