"""FeCAM: a Mahalanobis distance for each class (Goswami et al. 2023)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.errors import InputError
from anacp.learners.base import Learner
from anacp.learners.registry import register
from anacp.learners.solved import Solution
from anacp.linalg import cholesky_factor
from anacp.statistics import ClassMoments, Statistic

__all__ = ["FeCAM"]

# Factors are kept from one prediction to the next up to this size together; beyond, they are computed again.
KEPT_BYTES = 5 * 2**27
# Kept one by one between short-lived matrices of the same size, they would tear the heap into holes as large again.
FACTORS_PER_ALLOCATION = 32
# Columns of a triangular factor a product: narrow enough to skip most zeros, wide enough for full GEMM speed.
TRIANGLE_BLOCK = 256


@dataclass(frozen=True)
class _Predictor:
    means: Tensor  # (c, d)
    shared: Tensor | None  # W (d, d) with WWᵀ = Λ, where the classes share it
    states: tuple[bytes, ...]  # of the classes, where they do not
    kept: "_KeptFactors"


class _KeptFactors:
    """Factors W by the state of their class, as many as fit."""

    def __init__(self) -> None:
        self.factors: dict[bytes, Tensor] = {}
        self._free: list[Tensor] = []

    def keep(self, state: bytes, factor: Tensor) -> None:
        if (len(self.factors) + 1) * factor.nbytes > KEPT_BYTES:
            return
        if not self._free:
            self._free = list(factor.new_empty(FACTORS_PER_ALLOCATION, *factor.shape))
        self.factors[state] = self._free.pop().copy_(factor)

    def keep_only(self, states: Sequence[bytes]) -> None:
        self._free += [self.factors.pop(state) for state in self.factors.keys() - set(states)]


@register
class FeCAM(Learner):
    """The class with the least Mahalanobis distance, under a covariance of its own that is shrunk and normalised.

    Σ + γ₁·mean(diagonal)·I + γ₂·mean(off-diagonal)·(1 - I), scaled to a correlation matrix. A class without spread (one
    example, or equal ones) takes the covariance that is pooled over all classes.

    Parameters
    ----------
    shrinkage : float, default=1.0
        γ₁. Published: 1 on CIFAR-100, 10 on ImageNet-R.
    off_diagonal_shrinkage : float, default=0.0
        γ₂. Published: 0 on CIFAR-100, 10 on ImageNet-R.
    covariance : {"class", "shared"}, default="class"
        One for each class (d² numbers a class), or one for all.
    correlation : bool, default=True
        Scale the shrunk covariance to a correlation matrix.
    tukey : float, optional
        Raise features to this power first (published: 0.5 for features after a ReLU). They must not be negative.
    normalize : bool, default=True
        Scale features to length one.
    random_state : int, default=0
        Seed of the draws that calibrate `predict_proba`; nothing else is random.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of class covariances and scores.
    """

    _solve_parameters = frozenset({"shrinkage", "off_diagonal_shrinkage", "correlation"})
    _block_rows = 8192  # many rows share the cost of factoring a covariance

    def __init__(
        self,
        *,
        shrinkage: float = 1.0,
        off_diagonal_shrinkage: float = 0.0,
        covariance: Literal["class", "shared"] = "class",
        correlation: bool = True,
        tukey: float | None = None,
        normalize: bool = True,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.shrinkage = shrinkage
        self.off_diagonal_shrinkage = off_diagonal_shrinkage
        self.covariance = covariance
        self.correlation = correlation
        self.tukey = tukey
        self.normalize = normalize
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect("shrinkage", self.shrinkage > 0, "a positive number (few examples give a singular covariance)")
        self._expect("off_diagonal_shrinkage", self.off_diagonal_shrinkage >= 0, "a number ≥ 0")
        self._expect("tukey", self.tukey is None or self.tukey > 0, "a positive power, or None")
        self._expect_choice("covariance", "class", "shared")

    def _prepare(self, x: Tensor) -> Tensor:
        if self.tukey is not None:
            if bool((x < 0).any()):
                raise InputError(
                    f"Expected features ≥ 0 for the Tukey power {self.tukey:g}, got {float(x.min()):g}. Use "
                    "tukey=None, or features taken after a ReLU."
                )
            x = x**self.tukey
        return F.normalize(x, dim=1) if self.normalize else x

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        precision = self._torch_dtype if self.covariance == "class" else torch.float64
        return {"moments": ClassMoments(n_features, spread=self.covariance, device=device, dtype=precision)}

    def _solve(self) -> Solution:
        """Return means, and the root where it is shared: the roots of all classes are larger than the statistics."""
        moments = self._memory.moments
        solution = {"means": moments.means.to(self._torch_dtype)}
        if self.covariance == "shared":
            solution["root"] = self._inverse_root(moments.covariance())
        return solution

    def _predictor(self, solution: Solution) -> _Predictor:
        if self.covariance == "shared":
            return _Predictor(solution["means"], solution["root"], (), _KeptFactors())
        states = tuple(self._state(c) for c in range(len(solution["means"])))
        kept = self._solved.kept.setdefault("factors", _KeptFactors())
        kept.keep_only(states)
        return _Predictor(solution["means"], None, states, kept)

    def _state(self, c: int) -> bytes:
        """Return a digest of all that the factor of a class depends on, so that unchanged classes are factored once."""
        moments = self._memory.moments
        spread = moments.scatter[c].diagonal()
        spread = spread if bool(spread.any()) else moments.scatter.diagonal(dim1=1, dim2=2).sum(0)
        digest = hashlib.blake2b(repr((self.shrinkage, self.off_diagonal_shrinkage, self.correlation)).encode())
        for tensor in (moments.counts[c], moments.means[c], spread):
            digest.update(tensor.cpu().numpy().tobytes())
        return digest.digest()

    def _scores(self, x: Tensor, solution: _Predictor) -> Tensor:
        if solution.shared is not None:
            return -torch.cdist(x @ solution.shared, solution.means @ solution.shared).square()
        distances = x.new_empty(len(x), len(solution.means))
        for c, mean in enumerate(solution.means):
            distances[:, c] = _squared_lengths(x - mean, self._factor(c, solution))
        return -distances

    def _factor(self, c: int, solution: _Predictor) -> Tensor:
        state = solution.states[c]
        if state in solution.kept.factors:
            return solution.kept.factors[state]
        moments = self._memory.moments
        covariance = moments.covariance_of(c)
        factor = self._inverse_root(covariance if float(covariance.diagonal().sum()) > 0 else moments.covariance())
        solution.kept.keep(state, factor)
        return factor

    def _inverse_root(self, covariance: Tensor) -> Tensor:
        """Return W (d, d) with WWᵀ = the inverse of the shrunk and normalised covariance."""
        size = len(covariance)
        covariance = covariance.to(self._torch_dtype)  # well conditioned once shrunk
        identity = torch.eye(size).to(covariance)
        trace = float(covariance.diagonal().sum())
        if not trace > 0:
            return identity
        diagonal = trace / size
        off_diagonal = (float(covariance.sum()) - trace) / max(size * (size - 1), 1)
        shrunk = covariance + self.off_diagonal_shrinkage * off_diagonal * (1 - identity)
        shrunk.diagonal().add_(self.shrinkage * diagonal)
        if self.correlation:
            deviations = shrunk.diagonal().sqrt()
            shrunk = shrunk / deviations[:, None] / deviations
        factor = cholesky_factor(shrunk)
        return cast(Tensor, torch.linalg.solve_triangular(factor, identity, upper=False)).mT.contiguous()

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        factors = n_classes if self.covariance == "class" else 1
        kept = min(factors, KEPT_BYTES // (n_features**2 * np.dtype(self.dtype).itemsize))
        return {"inverse roots of covariances, kept between predictions": kept * n_features**2}


def _squared_lengths(gaps: Tensor, factor: Tensor) -> Tensor:
    """Return ‖gap W‖² (n,) for an upper triangular W, without most of the products with its zeros."""
    total = gaps.new_zeros(len(gaps))
    for start in range(0, len(factor), TRIANGLE_BLOCK):
        stop = start + TRIANGLE_BLOCK
        total += (gaps[:, :stop] @ factor[:stop, start:stop]).square().sum(1)
    return total
