"""Randomness has a name: every draw is a function of (seed, role), so that no other draw can move it."""

import hashlib

import torch
from torch import Tensor

__all__ = ["generator", "standard_normal"]


def generator(seed: int, role: str) -> torch.Generator:
    """Return a fresh generator for one named purpose. The global random state is neither read nor set."""
    digest = hashlib.blake2b(f"{seed}/{role}".encode(), digest_size=7).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big"))


def standard_normal(seed: int, role: str, *shape: int) -> Tensor:
    """Draw N(0, 1) entries in float32 on the CPU, so that the numbers are the same for every device and dtype."""
    return torch.randn(shape, generator=generator(seed, role), dtype=torch.float32)
