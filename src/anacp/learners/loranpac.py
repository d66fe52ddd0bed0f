"""LoRanPAC: very many random features, and the part of their spectrum that can be trusted (Peng et al. 2025)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

import torch
from torch import Tensor

from anacp.catalogue import method
from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.constraints import Constraint, count, number
from anacp.learners.formulas import feature_scores
from anacp.learners.memory import Memory
from anacp.learners.solution import Solution
from anacp.projections import RandomProjection
from anacp.statistics import ClassMoments, Features, LowRankGram, Statistic


@dataclass(frozen=True, eq=False)
class TruncatedWeights(Solution):
    """W = U σ⁻² Uᵀ ZᵀY, and what it is applied to."""

    features: Features
    weights: Tensor  # (m, c)


@method("LoRanPAC-10k", parameters={"n_projected": 10_000, "max_rank": 1000}, page="loranpac", compared=9)
@method(page="loranpac")
class LoRanPAC(Learner[TruncatedWeights]):
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

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.LoRanPAC(n_projected=1000).partial_fit(sample.x_train[::10], sample.y_train[::10])
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_projected": count(),
        "truncation": number("a share ≥ 0 and < 1", lambda value: 0 <= value < 1).solving,
        "max_rank": count(),
    }

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

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        features = RandomProjection(
            n_features, self.n_projected, "relu", self.random_state, "projection", self.device, self._torch_dtype
        )
        gram = LowRankGram(features, max_rank=self.max_rank, device=device, dtype=self._torch_dtype)
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device), "gram": gram}

    def _solve(self, memory: Memory, before: TruncatedWeights | None) -> TruncatedWeights:
        gram = cast(LowRankGram, memory.statistics["gram"])
        values, vectors = torch.linalg.eigh(gram.core)
        share = 1 - self.truncation
        rank = min(self.max_rank, math.ceil(share * self.n_projected), math.ceil(share * gram.n))
        gram.check_trusted(values, rank)
        trusted = values > torch.maximum(gram.rounding(values), gram.error)
        values, vectors = values[trusted][-rank:], vectors[:, trusted][:, -rank:]
        inside = (vectors / values) @ (gram.sums @ vectors).mT  # σ⁻² Uᵀ ZᵀY in the basis (r, c)
        return TruncatedWeights(gram.features, gram.basis.mT @ inside.to(gram.basis.dtype))

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> TruncatedWeights:
        return TruncatedWeights.restored(tensors, features=memory.features("gram"))

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        return {"weights": self._sized(self.n_projected, n_classes)}

    def _scores(self, x: Tensor, solution: TruncatedWeights) -> Tensor:
        return feature_scores(x, solution.features, solution.weights)

    def _evidence(self, scores: Tensor) -> Tensor:
        # Fitted to 0 and 1 by least squares, the scores are rough probabilities, not log-odds.
        return log_positive_part(scores)

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        return {
            "random matrix, from the seed": n_features * self.n_projected,
            "weights, solved from the statistics": self.n_projected * n_classes,
        }
