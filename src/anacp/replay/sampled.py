"""The Gram matrix of an ELM on pseudo-features drawn from the remembered Gaussians (Section 3.3)."""

from collections.abc import Iterator

import torch
from torch import Tensor

from anacp.projections import ContrastiveProjection
from anacp.replay.gaussians import replay_groups
from anacp.replay.readout import Readout
from anacp.statistics import BLOCK_ROWS, ClassGram, ClassMoments, nothing

# Replay noise is projected once a group and shared by the classes of the group; groups are independent.
REPLAY_GROUPS = 8


def sampled_gram(
    moments: ClassMoments, projection: ContrastiveProjection, features: Readout, *, n_replay: int, seed: int
) -> ClassGram:
    """Draw n_replay pseudo-features a class, and return the Gram matrix of what the ELM sees of them."""
    device, dtype = str(projection.weights[0].device), projection.weights[0].dtype
    gram = ClassGram(features, device=device, dtype=dtype).at(*nothing(device), moments.n_classes)
    return gram.plus_blocks(_gathered(_replayed(moments, projection, n_replay, seed)))


def _replayed(
    moments: ClassMoments, projection: ContrastiveProjection, n_replay: int, seed: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the coefficients of pseudo-features, and their classes, a few classes at a time."""
    dtype = projection.weights[0].dtype
    for drawn in replay_groups(moments, n_replay, n_groups=REPLAY_GROUPS, seed=seed, role="replay"):
        group = drawn.to(dtype)
        projected_basis = [] if group.basis is None else [head.linear(group.basis) for head in projection.heads]
        for noise in torch.split(group.coordinates, BLOCK_ROWS):
            projected_noise = [noise @ one for one in projected_basis] or [
                head.linear(noise) for head in projection.heads
            ]
            for classes in torch.split(group.classes, max(1, BLOCK_ROWS // len(noise))):
                means = moments.means[classes].to(dtype)
                of_classes = [head.linear(means) for head in projection.heads]
                coefficients = projection.coefficients_of_sums(of_classes, projected_noise)
                yield coefficients, classes.repeat_interleave(len(noise))


def _gathered(pairs: Iterator[tuple[Tensor, Tensor]]) -> Iterator[tuple[Tensor, Tensor, None]]:
    """Join small pairs of rows and classes to whole blocks: long products are fast ones."""
    waiting: list[tuple[Tensor, Tensor]] = []
    for pair in pairs:
        waiting.append(pair)
        if sum(len(classes) for _, classes in waiting) >= BLOCK_ROWS:
            yield torch.cat([rows for rows, _ in waiting]), torch.cat([classes for _, classes in waiting]), None
            waiting = []
    if waiting:
        yield torch.cat([rows for rows, _ in waiting]), torch.cat([classes for _, classes in waiting]), None
