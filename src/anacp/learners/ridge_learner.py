"""What all learners share that regress one-hot labels onto features by ridge regression."""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.ridge_choice import Ridge, holds_out, is_ridge, ridge_statistics, solve_ridge
from anacp.learners.solved import Solution
from anacp.projections import Activation, RandomProjection
from anacp.statistics import ClassMoments, Features, Statistic

__all__ = ["RandomRidgeLearner", "RidgeLearner"]


class RidgeLearner(Learner):
    """Scores φ(x) W with W = (G + λI)⁻¹ ZᵀY; a method says what φ is (`_features`)."""

    _solve_parameters: ClassVar[frozenset[str]] = frozenset({"ridge"})

    ridge: Ridge

    @abstractmethod
    def _features(self, n_features: int) -> Features:
        """Return φ."""

    @property
    def ridge_(self) -> float:
        """The λ that was given, or chosen by its criterion from all that was learned."""
        self._check_learned()
        return float(self._solution()["ridge"])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect("ridge", is_ridge(self.ridge), "a positive number, 'gcv', 'squared error' or 'accuracy'")

    def _may_change(self, name: str, before: object, now: object) -> bool:
        return super()._may_change(name, before, now) and not (holds_out(before) or holds_out(now))

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        moments = ClassMoments(n_features, spread="diagonal", device=device)
        features = self._features(n_features)
        return {
            "moments": moments,
            **ridge_statistics("gram", n_features, features, self.ridge, device=device, dtype=self._torch_dtype),
        }

    def _solve(self) -> Solution:
        weights, ridge = solve_ridge(self._memory.statistics, "gram", self.ridge)
        return {"weights": weights, "ridge": torch.tensor(ridge, dtype=torch.float64)}

    def _scores(self, x: Tensor, solution: Solution) -> Tensor:
        return self._memory.features("gram")(x) @ solution["weights"]

    def _evidence(self, scores: Tensor) -> Tensor:
        # Fitted to 0 and 1 by least squares, the scores are rough probabilities, not log-odds.
        return log_positive_part(scores)


class RandomRidgeLearner(RidgeLearner):
    """Ridge regression on one random projection; a method says how wide it is and with which activation."""

    activation: Activation = "relu"
    n_projected: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect_count("n_projected")

    def _features(self, n_features: int) -> RandomProjection:
        return RandomProjection(
            n_features,
            self.n_projected,
            self.activation,
            self.random_state,
            "projection",
            self.device,
            self._torch_dtype,
        )

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        return {
            "random matrix, from the seed": n_features * self.n_projected,
            "weights, solved from the statistics": self.n_projected * n_classes,
        }
