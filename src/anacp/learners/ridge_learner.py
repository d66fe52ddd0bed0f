"""What all learners share that regress one-hot labels onto features by ridge regression."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.constraints import Constraint
from anacp.learners.formulas import feature_scores
from anacp.learners.memory import Memory
from anacp.learners.ridge_choice import RIDGE_RANGE, RidgeChoice, check_ridge, ridge_statistics, solve_ridge
from anacp.learners.solution import Solution
from anacp.projections import Activation, RandomProjection
from anacp.statistics import ClassMoments, Features, Statistic


@dataclass(frozen=True, eq=False)
class RidgeWeights(Solution):
    """W = (G + λI)⁻¹ ZᵀY, and what it is applied to."""

    features: Features
    weights: Tensor  # (m, c)
    ridge: Tensor  # λ, ()


class RidgeLearner(Learner[RidgeWeights], abstract=True):
    """Scores φ(x) W with W = (G + λI)⁻¹ ZᵀY; a method says what φ is (`_features`)."""

    _constraints: ClassVar[Mapping[str, Constraint]] = {"ridge": RIDGE_RANGE}

    ridge: RidgeChoice

    @abstractmethod
    def _features(self, n_features: int) -> Features:
        """Return φ."""

    @property
    def ridge_(self) -> float:
        """The λ that was given, or chosen by its criterion from all that was learned."""
        return float(self._solved(self._known()).solution.ridge)

    def _random_features(self, n_features: int, n_projected: int, activation: Activation = "relu") -> RandomProjection:
        seed, device = self.random_state, self.device
        return RandomProjection(n_features, n_projected, activation, seed, "projection", device, self._torch_dtype)

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        moments = ClassMoments(n_features, spread="diagonal", device=device)
        features = self._features(n_features)
        return {
            "moments": moments,
            **ridge_statistics("gram", n_features, features, self.ridge, device=device, dtype=self._torch_dtype),
        }

    def _solve(self, memory: Memory, before: RidgeWeights | None) -> RidgeWeights:
        weights, ridge = solve_ridge(memory.statistics, "gram", self.ridge)
        return RidgeWeights(memory.features("gram"), weights, torch.tensor(ridge, dtype=torch.float64))

    def _check_left(self, memory: Memory) -> None:
        check_ridge(memory.statistics, "gram", self.ridge)

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> RidgeWeights:
        return RidgeWeights.restored(tensors, features=memory.features("gram"))

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        weights = self._sized(self._features(n_features).n_outputs, n_classes)
        return {"weights": weights, "ridge": self._sized(dtype=torch.float64)}

    def _scores(self, x: Tensor, solution: RidgeWeights) -> Tensor:
        return feature_scores(x, solution.features, solution.weights)

    def _evidence(self, scores: Tensor) -> Tensor:
        # Fitted to 0 and 1 by least squares, the scores are rough probabilities, not log-odds.
        return log_positive_part(scores)

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        outputs = self._features(n_features).n_outputs
        drawn = {"random matrix, from the seed": n_features * outputs} if hasattr(self, "n_projected") else {}
        return drawn | {"weights, solved from the statistics": outputs * n_classes}
