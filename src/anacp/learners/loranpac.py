"""LoRanPAC: very many random features, and the part of their spectrum that can be trusted (Peng et al. 2025)."""

import math
from typing import Literal, cast

import torch
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.registry import register
from anacp.learners.solved import Solution
from anacp.projections import RandomProjection
from anacp.statistics import ClassMoments, LowRankGram, Statistic

__all__ = ["LoRanPAC"]


@register
class LoRanPAC(Learner):
    """Least squares without ridge on very many random ReLU features, by a truncated spectrum: W = U σ⁻² Uᵀ ZᵀY.

    The rank is the least of `max_rank`, (1 - τ)·D and (1 - τ)·n, rounded up. The basis of the rows is exact until
    `max_rank` independent rows were seen, so that up to there neither order nor batches matter; the truncation by τ is
    done when solving, and never stored. Memory: 4·D bytes for each row up to 1.25·`max_rank` rows, once more while
    learning; D = 100,000 with `max_rank=5000` keeps 2.5 GB.

    Parameters
    ----------
    n_projected : int, default=100000
        Random features, D.
    truncation : float, default=0.25
        τ, the share of the spectrum that is not trusted.
    max_rank : int, default=10000
        The largest rank kept.
    random_state : int, default=0
        Seed of the projection, and of the draws that calibrate `predict_proba`.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of projection, basis and scores.
    """

    _solve_parameters = frozenset({"truncation"})

    def __init__(
        self,
        *,
        n_projected: int = 100_000,
        truncation: float = 0.25,
        max_rank: int = 10_000,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.truncation = truncation
        self.max_rank = max_rank
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect_count("n_projected")
        self._expect_count("max_rank")
        self._expect("truncation", 0 <= self.truncation < 1, "a share ≥ 0 and < 1")

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        features = RandomProjection(
            n_features, self.n_projected, "relu", self.random_state, "projection", self.device, self._torch_dtype
        )
        gram = LowRankGram(features, max_rank=self.max_rank, device=device, dtype=self._torch_dtype)
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device), "gram": gram}

    def _solve(self) -> Solution:
        gram = cast(LowRankGram, self._memory.statistics["gram"])
        values, vectors = torch.linalg.eigh(gram.core)
        share = 1 - self.truncation
        rank = min(self.max_rank, math.ceil(share * self.n_projected), math.ceil(share * gram.n))
        # Below this, an eigenvalue of the core is the rounding error of coordinates kept in the basis' precision.
        trusted = values > 1e-2 * torch.finfo(gram.basis.dtype).eps * values.sum().clamp_min(0)
        values, vectors = values[trusted][-rank:], vectors[:, trusted][:, -rank:]
        inside = (vectors / values) @ (gram.sums @ vectors).mT  # σ⁻² Uᵀ ZᵀY in the basis (r, c)
        return {"weights": gram.basis.mT @ inside.to(gram.basis.dtype)}  # (m, c)

    def _scores(self, x: Tensor, solution: Solution) -> Tensor:
        return self._memory.features("gram")(x) @ solution["weights"]

    def _evidence(self, scores: Tensor) -> Tensor:
        # Fitted to 0 and 1 by least squares, the scores are rough probabilities, not log-odds.
        return log_positive_part(scores)

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        return {
            "random matrix, from the seed": n_features * self.n_projected,
            "weights, solved from the statistics": self.n_projected * n_classes,
        }
