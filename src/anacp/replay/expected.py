"""The Gram matrix of an ELM over all pseudo-features that the remembered Gaussians could give, without drawing them.

A class N(μ_c, Σ) goes through the contrastive projection and becomes, nearly, a Gaussian again: of coefficients with a
mean a_c and a covariance S that the classes share. What an ELM sees of those has expectations in closed form. With
pre-activations of mean m_c and covariance K, and φ̄_k the k-th derivative of φ smoothed by the noise,

    E[φ_i φ_j] = Σ_k K_ij^k / k! · φ̄_k(c, i) φ̄_k(c, j)   (Mehler's formula),

of which the first two terms count, and the third a little.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from anacp.linalg import FILLED_STRIP, Triangle
from anacp.projections import ContrastiveProjection, smoothed, smoothed_bend
from anacp.randomness import standard_normal
from anacp.replay.gaussians import covariance_factor
from anacp.replay.readout import Readout
from anacp.statistics import ClassGram, ClassMoments, Directions

# Draws for the small part of S that is not linear in the noise.
DRAWS = 512
# Directions of S with less than this share of the mean are left out.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class AdaptedGaussians:
    """The classes after the contrastive projection, in terms of the prototypes."""

    means: Tensor  # a_c (c, c)
    root: Tensor  # (r, c); S, the covariance within classes, is rootᵀ·root


def expected_gram(adapted: AdaptedGaussians, features: Readout, *, n_replay: int) -> ClassGram:
    """Return the Gram matrix of what the ELM would see of n_replay pseudo-features a class, in expectation.

    With M, Φ̄_0, Φ̄_1 (c, m) for all classes and b the mean of φ̄_2 over them, it is n_replay times

        Φ̄_0ᵀΦ̄_0 + (Φ̄_1ᵀΦ̄_1)∘K + c/2·bbᵀ∘K∘K.
    """
    n_classes, n_outputs = features.matrix.shape
    noise = adapted.root @ features.matrix  # F with K = FᵀF
    variances = noise.square().sum(0)
    means = adapted.means @ features.matrix
    value, slope = smoothed(features.activation, means, variances)
    weight = n_replay**0.5
    sums, counts = n_replay * value, torch.full((n_classes,), n_replay, device=value.device)
    bent = (n_classes / 2) ** 0.5 * smoothed_bend(features.activation, means, variances).mean(0)
    if n_classes * (n_classes + 1) * 3 // 2 <= ClassGram.room(n_outputs):
        rows = torch.cat([value, *_noise_rows(noise, slope, bent)])
        own = torch.eye(n_classes, len(rows)).to(rows)
        return ClassGram.of_directions(features, Directions(weight * rows, weight * own), counts)

    # Rows that lie together multiply faster.
    value, slope, noise = (one.mT.contiguous() for one in (weight * value, weight * slope, noise))  # (m, ·)
    bent = weight * bent
    scratch = value.new_empty(2, FILLED_STRIP * n_outputs)  # for every strip: fresh memory costs more than its use

    def fill(rows: slice, strip: Tensor) -> None:
        columns = slice(rows.stop)
        shared, scaled = (one[: strip.numel()].view(strip.shape) for one in scratch)
        torch.mm(noise[rows], noise[columns].mT, out=shared)  # K
        torch.mm(slope[rows], slope[columns].mT, out=strip)
        torch.mul(shared, bent[rows, None], out=scaled).mul_(bent[columns])  # K may be too large to be squared
        strip.add_(scaled).mul_(shared).addmm_(value[rows], value[columns].mT)

    triangle = Triangle.filled_whole(value, n_outputs, fill)
    return ClassGram.of_triangle(features, triangle, sums, counts)


def _noise_rows(factor: Tensor, slope: Tensor, bent: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows whose Gram matrix is that of the noise: with K = FᵀF, all φ̄_1(c)∘F_i, and all b∘F_i∘F_j."""
    i, j = torch.triu_indices(len(factor), len(factor), device=factor.device)
    twice = torch.where(i == j, 1.0, 2.0**0.5).to(factor)
    return (slope[:, None] * factor).flatten(0, 1), twice[:, None] * bent * factor[i] * factor[j]


def adapted_gaussians(moments: ClassMoments, projection: ContrastiveProjection, *, seed: int) -> AdaptedGaussians:
    """Return means and covariance of the coefficients of N(μ_c, Σ) after the contrastive projection.

    The part linear in the noise is known in closed form, head by head; what it leaves over is small enough for few
    draws, of which the linear part is taken away again (a control variate).
    """
    like = projection.prototypes
    n_classes, width = moments.means.shape
    centres, covariance = moments.means.to(like), moments.covariance().to(like)
    factor = covariance_factor(moments, covariance)
    normal = standard_normal(seed, "replay/rest", DRAWS, width).to(like)
    of_row = torch.arange(DRAWS, device=like.device) % n_classes
    drawn = torch.addmm(centres[of_row], normal, factor.mT)
    heads = [_head(projection, h, centres, covariance, factor) for h in range(len(projection.heads))]
    means = torch.stack([head.means for head in heads]).mean(0)
    linear = torch.stack([head.tangent(normal @ head.jacobian, of_row) for head in heads]).mean(0)
    rest = projection.coefficients(drawn) - means[of_row] - linear
    crossed = _above_chance(linear, rest)
    within = rest.mT @ rest / DRAWS + crossed + crossed.mT
    for i, one in enumerate(heads):
        for other in heads[:i]:
            between = one.covariance_with(other) / len(heads) ** 2
            within = within + between + between.mT
        within = within + one.covariance_with(one) / len(heads) ** 2
    values, vectors = torch.linalg.eigh(within)
    felt = values > NEGLIGIBLE * values.sum() / len(values)
    return AdaptedGaussians(means, (vectors[:, felt] * values[felt].sqrt()).mT)


def _above_chance(one: Tensor, other: Tensor) -> Tensor:
    """Return the covariance of two sets of draws (n, c), shrunk by what independent ones would have of it."""
    n = len(one)
    crossed = one.mT @ other / n
    chance = one.square().sum() * other.square().sum() / n**3
    return crossed * (1 - chance / crossed.square().sum().clamp_min(torch.finfo(crossed.dtype).tiny)).clamp_min(0)


@dataclass(frozen=True)
class _Head:
    """What a head makes of the classes, to first order in standard normal noise."""

    means: Tensor  # (c, c), of length one if heads are normalised
    scales: Tensor  # (c, 1): one over the lengths before
    jacobian: Tensor  # LᵀJ (d, c), for all classes, before lengths are one
    gram: Tensor | None  # PPᵀ (c, c) if heads are normalised

    @property
    def _dual(self) -> Tensor:
        """What tells how far a row of coefficients goes along the mean of a class (c, c)."""
        if self.gram is None:
            return torch.zeros_like(self.means)
        dual = self.means @ self.gram
        return dual / (dual * self.means).sum(1, keepdim=True).clamp_min(1e-24)

    def tangent(self, noise: Tensor, of_row: Tensor) -> Tensor:
        """Return how rows (n, c) of noise move the output around the mean of their class: not in its length."""
        along = (noise * self._dual[of_row]).sum(1, keepdim=True)
        return self.scales[of_row] * (noise - along * self.means[of_row])

    def covariance_with(self, other: "_Head") -> Tensor:
        """Return the covariance (c, c) of two heads' outputs, its mean over the classes.

        For class c it is Π_cᵀ A Π_c' with A = (LᵀJ)ᵀ(LᵀJ') and Π_c = I - (dual of its mean)ᵀ(mean).
        """
        inner = self.jacobian.mT @ other.jacobian
        weights = self.scales * other.scales / len(self.scales)  # (c, 1)
        mine, theirs = self._dual @ inner, inner @ other._dual.mT  # (c, c) by class, and its transpose
        both = (mine * other._dual).sum(1, keepdim=True)
        return (
            weights.sum() * inner
            - self.means.mT @ (weights * mine)
            - theirs @ (weights * other.means)
            + self.means.mT @ (weights * both * other.means)
        )


def _head(projection: ContrastiveProjection, h: int, centres: Tensor, covariance: Tensor, factor: Tensor) -> _Head:
    """Return a head whose output has the mean φ̄_0 B, exactly, and the Jacobian J = R diag(φ̄_1) B.

    φ̄_1 is its mean over the classes, so that one product serves all of them.
    """
    head, weights = projection.heads[h], projection.weights[h]
    preactivations = head.linear(centres)
    variances = head.variances(covariance).clamp_min(0)
    value, slope = smoothed(head.activation, preactivations, variances)
    means, jacobian = value @ weights, factor.mT @ head.adjoint(slope.mean(0) * weights.mT).mT
    if not projection.normalize:
        return _Head(means, means.new_ones(len(means), 1), jacobian, None)
    squared = projection.squared_lengths(means) + (jacobian @ projection.gram * jacobian).sum()
    scales = projection.power / squared.clamp_min(1e-24).sqrt()
    return _Head(scales * means, scales, jacobian, projection.gram / projection.power**2)
