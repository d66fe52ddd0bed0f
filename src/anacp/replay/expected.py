"""The Gram matrix of an ELM over all pseudo-features that the remembered Gaussians could give, without drawing them.

A class N(μ_c, Σ) goes through the contrastive projection and becomes, nearly, a Gaussian again: of coefficients with a
mean a_c and a covariance S that the classes share. What an ELM sees of those has expectations in closed form. With
pre-activations of mean m_c and covariance K, and φ̄_k the k-th derivative of φ smoothed by the noise,

    E[φ_i φ_j] = Σ_k K_ij^k / k! · φ̄_k(c, i) φ̄_k(c, j)   (Mehler's formula),

of which the first two terms count, and the third a little.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from anacp.linalg import FILLED_STRIP, Triangle
from anacp.projections import ContrastiveProjection, smoothed, smoothed_bend
from anacp.randomness import standard_normal
from anacp.replay.gaussians import covariance_factor
from anacp.replay.readout import Readout
from anacp.statistics import BLOCK_ROWS, ClassGram, ClassMoments, Directions, row_blocks

# Draws for the small part of S that is not linear in the noise.
DRAWS = 512
# Directions of S with less than this share of the mean are left out.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class AdaptedGaussians:
    """The classes after the contrastive projection, in terms of the prototypes."""

    means: Tensor  # a_c (c, k): k is c, or d if there are more classes than features
    root: Tensor  # (r, k); S, the covariance within classes, is rootᵀ·root


def expected_gram(
    adapted: AdaptedGaussians, features: Readout, *, n_replay: int, sums: Tensor | None = None
) -> ClassGram:
    """Return the Gram matrix of what the ELM would see of n_replay pseudo-features a class, in expectation.

    Class sums (c, m) are written to `sums` if that is given.

    With M, Φ̄_0, Φ̄_1 (c, m) for all classes and b the mean of φ̄_2 over them, it is n_replay times

        Φ̄_0ᵀΦ̄_0 + (Φ̄_1ᵀΦ̄_1)∘K + c/2·bbᵀ∘K∘K.
    """
    n_classes, n_outputs = len(adapted.means), features.n_outputs
    if n_classes > BLOCK_ROWS:
        return _gram_of_many(adapted, features, n_replay, sums)
    noise = adapted.root @ features.matrix  # F with K = FᵀF
    variances = noise.square().sum(0)
    means = adapted.means @ features.matrix
    value, slope = smoothed(features.activation, means, variances)
    weight = n_replay**0.5
    sums = torch.mul(value, n_replay, out=sums)
    counts = torch.full((n_classes,), n_replay, device=value.device)
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


def _gram_of_many(adapted: AdaptedGaussians, features: Readout, n_replay: int, sums: Tensor | None) -> ClassGram:
    """Return the same, with a bounded number of classes at a time beside the class sums."""
    n_classes, n_outputs = len(adapted.means), features.n_outputs
    noise = adapted.root @ features.matrix
    variances = noise.square().sum(0)
    sums = noise.new_empty(n_classes, n_outputs) if sums is None else sums

    def cleared(rows: slice, strip: Tensor) -> None:
        strip.zero_()

    of_values, of_slopes = (Triangle.filled_whole(noise, n_outputs, cleared) for _ in range(2))
    bent = noise.new_zeros(n_outputs)
    for classes in row_blocks(n_classes):
        means = adapted.means[classes] @ features.matrix
        value, slope = smoothed(features.activation, means, variances)
        sums[classes] = n_replay * value
        of_values.add_gram_(value)
        of_slopes.add_gram_(slope)
        bent += smoothed_bend(features.activation, means, variances).sum(0)
    bent /= (2 * n_classes) ** 0.5
    for (rows, strip), slopes in zip(of_values.places(), of_slopes.strips, strict=True):
        shared = noise[:, rows].mT @ noise[:, : rows.stop]  # K
        slopes.add_(shared * bent[rows, None] * bent[: rows.stop]).mul_(shared)
        strip.add_(slopes).mul_(n_replay)
    counts = torch.full((n_classes,), n_replay, device=noise.device)
    return ClassGram.of_triangle(features, of_values, sums, counts)


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
    like = projection.weights[0]
    n_classes, width = moments.means.shape
    centres, covariance = moments.means.to(like), moments.covariance().to(like)
    factor = covariance_factor(moments, covariance)
    normal = standard_normal(seed, "replay/rest", DRAWS, width).to(like)
    of_row = torch.arange(DRAWS, device=like.device) % n_classes
    drawn = torch.addmm(centres[of_row], normal, factor.mT)
    heads = [_head(projection, h, centres, covariance, factor) for h in range(len(projection.heads))]
    means = sum((head.means for head in heads[1:]), start=heads[0].means) / len(heads)
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

    means: Tensor  # (c, k), of length one if heads are normalised
    scales: Tensor  # (c, 1): one over the lengths before
    jacobian: Tensor  # LᵀJ (d, k), for all classes, before lengths are one
    through_gram: Callable[[Tensor], Tensor] | None  # a PPᵀ (n, k) if heads are normalised

    def _dual(self, classes: slice | Tensor) -> Tensor:
        """Return what tells how far a row of coefficients goes along the mean of some classes (n, k)."""
        means = self.means[classes]
        if self.through_gram is None:
            return torch.zeros_like(means)
        dual = self.through_gram(means)
        return dual / (dual * means).sum(1, keepdim=True).clamp_min(1e-24)

    def tangent(self, noise: Tensor, of_row: Tensor) -> Tensor:
        """Return how rows (n, k) of noise move the output around the mean of their class: not in its length."""
        along = (noise * self._dual(of_row)).sum(1, keepdim=True)
        return self.scales[of_row] * (noise - along * self.means[of_row])

    def covariance_with(self, other: "_Head") -> Tensor:
        """Return the covariance (k, k) of two heads' outputs, its mean over the classes.

        For class c it is Π_cᵀ A Π_c' with A = (LᵀJ)ᵀ(LᵀJ') and Π_c = I - (dual of its mean)ᵀ(mean).
        """
        inner = self.jacobian.mT @ other.jacobian
        weights = self.scales * other.scales / len(self.scales)  # (c, 1)
        covariance = weights.sum() * inner
        for classes in row_blocks(len(weights)):
            weight, own, others = weights[classes], self.means[classes], other.means[classes]
            my_dual, their_dual = self._dual(classes), other._dual(classes)
            mine, theirs = my_dual @ inner, inner @ their_dual.mT  # by class, and its transpose
            both = (mine * their_dual).sum(1, keepdim=True)
            covariance = covariance - own.mT @ (weight * mine) - theirs @ (weight * others)
            covariance += own.mT @ (weight * both * others)
        return covariance


def _head(projection: ContrastiveProjection, h: int, centres: Tensor, covariance: Tensor, factor: Tensor) -> _Head:
    """Return a head whose output has the mean φ̄_0 B, exactly, and the Jacobian J = R diag(φ̄_1) B.

    φ̄_1 is its mean over the classes, so that one product serves all of them.
    """
    head, weights = projection.heads[h], projection.weights[h]
    variances = head.variances(covariance).clamp_min(0)
    means = centres.new_empty(len(centres), weights.shape[1])
    slopes = torch.zeros_like(weights[:, 0])
    for classes in row_blocks(len(centres)):
        value, slope = smoothed(head.activation, head.linear(centres[classes]), variances)
        means[classes] = value @ weights
        slopes += slope.sum(0)
    jacobian = factor.mT @ head.adjoint(slopes / len(centres) * weights.mT).mT
    if not projection.normalize:
        return _Head(means, means.new_ones(len(means), 1), jacobian, None)
    felt = (projection.through_gram(jacobian) * jacobian).sum()
    scales = means.new_empty(len(means), 1)
    for classes in row_blocks(len(means)):
        squared = projection.squared_lengths(means[classes]) + felt
        scales[classes] = projection.power / squared.clamp_min(1e-24).sqrt()
    return _Head(means.mul_(scales), scales, jacobian, lambda rows: projection.through_gram(rows) / projection.power**2)
