"""Pseudo-features drawn from the remembered Gaussians N(μ_c, Σ) (Section 3.3)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from anacp.linalg import cholesky_factor, low_rank_factor, symmetric_roots
from anacp.randomness import standard_normal
from anacp.statistics import ClassMoments, divisor

# The remembered covariance may be singular (few examples, or more features than examples). Relative to E‖x‖², this
# much on the diagonal outweighs the rounding of a scatter kept in that precision, and nothing else.
JITTER = {torch.float64: 1e-10, torch.float32: 1e-6}
# Up to this many examples a feature, the rank of a class's covariance makes its root cheap.
SHARE_OF_LOW_RANK = 0.5


@dataclass(frozen=True)
class ReplayGroup:
    """Some classes, and the noise that is added to the mean of each."""

    classes: Tensor  # (k,)
    coordinates: Tensor  # (n_replay, r)
    basis: Tensor | None  # (r, d); None stands for the identity

    @property
    def noise(self) -> Tensor:
        """The noise itself (n_replay, d)."""
        return self.coordinates if self.basis is None else self.coordinates @ self.basis

    def to(self, dtype: torch.dtype) -> "ReplayGroup":
        """Return this group in another precision."""
        basis = None if self.basis is None else self.basis.to(dtype)
        return ReplayGroup(self.classes, self.coordinates.to(dtype), basis)


def replay_groups(
    moments: ClassMoments,
    n_replay: int,
    *,
    n_groups: int,
    seed: int,
    role: str,
    only: Collection[int] | None = None,
) -> Iterator[ReplayGroup]:
    """Yield noise for every class, n_replay rows of N(0, Σ) each.

    Under a shared covariance class c gets the noise of group c mod n_groups, so that a projection of the noise serves
    many classes; noise of different groups is independent. With one covariance a class, each class is a group, and
    `only` some of them can be asked for.
    """
    n_classes, by_class = moments.n_classes, moments.spread == "class"
    n_groups = n_classes if by_class else min(n_groups, n_classes)
    factor = torch.empty(0)
    for group in range(n_groups):
        if only is not None and group not in only:
            continue
        classes = torch.arange(group, n_classes, n_groups, device=moments.means.device)
        normal = standard_normal(seed, f"{role}/{group}", n_replay, moments.means.shape[1]).to(moments.means)
        if by_class and moments.counts[group] <= SHARE_OF_LOW_RANK * normal.shape[1]:
            yield ReplayGroup(classes, *_of_low_rank(normal, moments, group))
            continue
        if by_class or group == 0:
            covariance = moments.covariance_of(group) if by_class else moments.covariance()
            factor = covariance_factor(moments, covariance)
        yield ReplayGroup(classes, normal * factor if factor.ndim == 1 else normal @ factor.mT, None)


def draw(
    moments: ClassMoments, n_replay: int, *, seed: int, role: str, classes: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return independent draws for every class, or for some (k,), as rows (k·n_replay, d) and their class indices."""
    drawn = torch.arange(moments.n_classes, device=moments.means.device) if classes is None else classes
    classes = drawn.repeat_interleave(n_replay)
    if moments.spread == "class":
        only = frozenset(drawn.tolist())
        groups = replay_groups(moments, n_replay, seed=seed, role=role, n_groups=moments.n_classes, only=only)
        return moments.means[classes] + torch.cat([group.noise for group in groups]), classes
    width = moments.means.shape[1]
    normal = torch.cat([standard_normal(seed, f"{role}/{c}", n_replay, width) for c in drawn.tolist()])
    factor = covariance_factor(moments, moments.covariance())
    size = factor.abs().max().clamp_min(torch.finfo(factor.dtype).tiny)
    # Draws need no more digits than they were drawn with: one product of float32, whatever the moments are kept in.
    near = (factor / size).to(normal.dtype)
    normal = normal.to(near.device)
    noise = normal * near if near.ndim == 1 else normal @ near.mT
    return moments.means[classes] + size * noise.to(moments.means), classes


def covariance_factor(moments: ClassMoments, covariance: Tensor) -> Tensor:
    """Return L (d, d) with L Lᵀ = Σ, a covariance of these moments; of a diagonal its roots (d,)."""
    if covariance.ndim == 1:
        return covariance.clamp_min(0).sqrt()
    narrow = torch.float32 in (covariance.dtype, moments.scatter_dtype)
    jitter = JITTER[torch.float32 if narrow else torch.float64] * (moments.mean_square() or 1.0)
    jittered = covariance.clone()
    jittered.diagonal().add_(jitter)
    return cholesky_factor(jittered)


def _of_low_rank(normal: Tensor, moments: ClassMoments, c: int) -> tuple[Tensor, Tensor]:
    """Return normal · Σ_c^{1/2} as coordinates and basis: with Σ_c = F Fᵀ, Σ_c^{1/2} = F (FᵀF)^{-1/2} Fᵀ.

    F depends on the order of its pivots, which rounding may decide; the symmetric root does not.
    """
    factor, _ = low_rank_factor(moments.triangles[c].scaled(1 / divisor(moments.counts[c])))  # (d, r)
    factor = factor.to(normal.dtype)
    _, inverse = symmetric_roots(factor.mT @ factor)
    return normal @ factor @ inverse, factor.mT
