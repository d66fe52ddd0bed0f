"""A Gram matrix in 8 bits an entry: what a prediction from the class moments leaves over of it.

Features z = φ(xR) of classes N(μ_c, Σ) have, to first order in the noise, the Gram matrix

    Σ_c s_c s_cᵀ / n_c + (Φ̄_1ᵀ diag(n) Φ̄_1) ∘ K,   K = RᵀΣR,

with the class sums s_c ≈ n_c φ̄_0(c), and φ̄_k the k-th derivative of φ smoothed by the noise. What real features leave
over is small and without structure, so that its errors move weights by a known little.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from anacp.errors import NumericalError
from anacp.linalg import Triangle, low_rank_factor
from anacp.statistics.base import divisor
from anacp.statistics.coded_names import GRAM, SUMS
from anacp.statistics.coding_error import LARGEST_EFFECT
from anacp.statistics.gram import ClassGram
from anacp.statistics.moments import ClassMoments
from anacp.statistics.rounding import unit_roundoff

# The largest signed number of 8 bits.
LARGEST = 2**7 - 1


@runtime_checkable
class NoisyFeatures(Protocol):
    """Features φ(xR) whose expectations under Gaussian noise are known."""

    def linear(self, x: Tensor, /) -> Tensor:
        """Return xR."""

    def smoothed(self, preactivations: Tensor, variances: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return E[φ] and E[φ'] around these pre-activations."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the moments say of a Gram matrix, and of the class sums."""

    sums: Tensor  # n_c φ̄_0(c) (c, m)
    slopes: Tensor  # √n_c φ̄_1(c) (c, m)
    noise: Tensor  # F (r, m), K = FᵀF

    @classmethod
    def of(cls, gram: ClassGram, moments: ClassMoments) -> "Prediction":
        """Return what the moments say of a statistic's features."""
        features, dtype = gram.features, gram.dtype
        if not isinstance(features, NoisyFeatures) or moments.spread != "shared":
            raise ValueError("a Gram matrix in fewer bits of features that nothing is known of")
        counts = moments.counts[:, None].to(dtype)
        factor, _ = low_rank_factor(moments.scatter.scaled(1 / (moments.n or 1)))  # (d, r)
        noise = features.linear(factor.mT.to(dtype).contiguous())
        preactivations = features.linear(moments.means.to(dtype))
        variances = noise.square().sum(0).expand_as(preactivations)
        value, slope = features.smoothed(preactivations, variances)
        return cls(counts * value, counts.sqrt() * slope, noise)

    def strip(self, rows: slice, centred: Tensor) -> Tensor:
        """Return some rows of the Gram matrix, up to the column where they stop, by sums over roots of counts."""
        columns = slice(rows.stop)
        within = self.slopes[:, rows].mT @ self.slopes[:, columns]
        within.mul_(self.noise[:, rows].mT @ self.noise[:, columns])
        return within.addmm_(centred[:, rows].mT, centred[:, columns])


def coded_triangle(gram: ClassGram, moments: ClassMoments, ridge: float) -> dict[str, Tensor] | None:
    """Return the tensors of a triangle; None if weights would move too much, or if nobody can tell how much."""
    if not isinstance(gram.features, NoisyFeatures) or moments.spread != "shared":
        return None
    try:
        weights, weakness = gram.weights_and_weakness(ridge)
    except NumericalError:
        return None
    whole, prediction = gram.gram, Prediction.of(gram, moments)
    rest = gram.sums - prediction.sums
    sums_scales = rest.abs().amax(1)
    sums_codes = _companded(rest, sums_scales[:, None])
    sums = prediction.sums + _expanded(sums_codes, sums_scales[:, None])
    centred = _centred(sums, gram.counts)
    left = Triangle(
        tuple(
            (strip - prediction.strip(place, centred)).tril(place.start - 1)  # the diagonal is stored beside
            for place, strip in whole.places()
        )
    )
    scale = torch.stack([strip.abs().max() for strip in left.strips]).max()
    codes = Triangle(tuple(_companded(strip, scale) for strip in left.strips))
    lost = sum(
        float((_expanded(code, scale) - strip).double().square().sum())
        for code, strip in zip(codes.strips, left.strips, strict=True)
    )
    variance = lost / max(gram.size * (gram.size - 1) // 2, 1)
    # An error of class sums moves weights as one of the Gram matrix does that is as large times the weights.
    sizes = weights.double().square().sum(1).clamp_min(torch.finfo(torch.float64).tiny)
    variance += float(((sums - gram.sums).double().square().mean(1) / sizes).mean())
    error = gram.coding.with_more(variance, weakness)
    if not error.effect <= LARGEST_EFFECT:
        return None
    return {
        GRAM: codes.packed(),
        "gram_scale": scale,
        "gram_diagonal": whole.diagonal(),
        SUMS: sums_codes,
        "sums_scales": sums_scales,
        "counts": gram.counts,
        "error": gram.error,
        "coding": error.tensor(),
    }


def decoded_triangle(empty: ClassGram, tensors: Mapping[str, Tensor], moments: ClassMoments) -> ClassGram:
    """Return the statistic that was coded, beside these moments."""
    prediction = Prediction.of(empty, moments)
    scale, diagonal = tensors["gram_scale"], tensors["gram_diagonal"]
    sums = prediction.sums + _expanded(tensors[SUMS], tensors["sums_scales"][:, None])
    centred = _centred(sums, tensors["counts"])
    codes = Triangle.unpacked(tensors[GRAM], empty.size)

    def strip(place: slice, code: Tensor) -> Tensor:
        numbers = prediction.strip(place, centred).add_(_expanded(code, scale))
        numbers[:, place].diagonal().copy_(diagonal[place])
        return numbers

    triangle = Triangle(tuple(strip(place, code) for place, code in codes.places()))
    # A prediction is rounded anew, and on another machine otherwise.
    rounded = unit_roundoff(empty.dtype) * diagonal.sum(dtype=tensors["error"].dtype)
    return empty.of_saved(triangle, sums, {**tensors, "error": torch.hypot(tensors["error"], rounded)})


def _centred(sums: Tensor, counts: Tensor) -> Tensor:
    return sums / divisor(counts)[:, None].sqrt().to(sums.dtype)


def _companded(numbers: Tensor, scale: Tensor) -> Tensor:
    """Return v in 8 bits with numbers = scale·v·|v|: small ones, of which there are most, get the finer steps."""
    shares = numbers / torch.where(scale > 0, scale, 1.0)
    return (shares.sign() * shares.abs().sqrt() * LARGEST).round().to(torch.int8)


def _expanded(codes: Tensor, scale: Tensor) -> Tensor:
    shares = codes.to(scale.dtype) / LARGEST
    return shares * shares.abs() * scale
