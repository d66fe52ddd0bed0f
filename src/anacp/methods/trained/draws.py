"""First values of prompts and keys."""

import torch
from torch import Tensor

from anacp.errors import ParameterError
from anacp.randomness import generator, standard_normal

__all__ = ["first_values", "orthonormal_to"]

LARGEST = 0.01


def first_values(seed: int, role: str, *shape: int) -> Tensor:
    """Draw small positive numbers, by name, as L2P and DualPrompt begin."""
    return torch.empty(shape).uniform_(0, LARGEST, generator=generator(seed, role))


def orthonormal_to(earlier: Tensor, n: int, seed: int, role: str) -> Tensor:
    """Draw n rows of length 1 that are orthogonal to each other and to earlier rows (Gram–Schmidt)."""
    width = earlier.shape[1]
    if len(earlier) + n > width:
        raise ParameterError(
            f"Expected at most {width} components, since no more than that are orthogonal in {width} dimensions, got "
            f"{len(earlier) + n}. Choose fewer components a task."
        )
    together = torch.cat([earlier, standard_normal(seed, role, n, width)]).double()
    basis: Tensor = torch.linalg.qr(together.mT).Q  # (d, earlier + n)
    return basis[:, len(earlier) :].mT.float().contiguous()
