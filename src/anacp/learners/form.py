"""What a method says of itself, and the checks that all learners share."""

from abc import abstractmethod
from typing import Any, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor

from anacp.errors import InputError, NotLearnedError, ParameterError
from anacp.learners.inputs import Labels, label_kind
from anacp.learners.memory import Memory
from anacp.learners.solved import Solution, Solved
from anacp.statistics import Statistic
from anacp.statistics.base import BLOCK_ROWS

__all__ = ["LearnerForm"]


class LearnerForm(BaseEstimator):  # type: ignore[misc]
    """The part of a learner that a method fills in: what it keeps, what it solves, how that scores a row."""

    # Parameters that may change after learning: they enter when solving only.
    _solve_parameters: ClassVar[frozenset[str]] = frozenset()

    # Rows scored at a time.
    _block_rows: ClassVar[int] = BLOCK_ROWS

    random_state: int
    device: str
    dtype: str
    classes_: Labels
    n_features_in_: int
    _memory: Memory
    _solved: Solved
    _learned_with: dict[str, Any]

    @abstractmethod
    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Return what this method keeps, empty; one entry is "moments"."""

    @abstractmethod
    def _solve(self) -> Solution:
        """Return what is solved from the statistics, by name. A model file keeps it."""

    @abstractmethod
    def _scores(self, x: Tensor, solution: Any) -> Tensor:
        """Return one score a class (n, c) for prepared rows (n, d); the largest wins."""

    def _predictor(self, solution: Solution) -> Any:
        """Return what `_scores` takes: the solution itself, or what a method makes of it once for all rows."""
        return solution

    def _evidence(self, scores: Tensor) -> Tensor:
        """Return what grows in proportion to the log-odds: probabilities are softmax(β·evidence)."""
        return scores

    def _prepare(self, x: Tensor) -> Tensor:
        """Return the rows as the statistics and scores see them."""
        return x

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        """Return how many numbers are rebuilt from seed and statistics instead of stored, by name."""
        return {}

    def _check_parameters(self) -> None:
        """Refuse parameters outside their range."""
        self._expect("random_state", isinstance(self.random_state, int | np.integer), "an integer")
        self._expect("dtype", self.dtype in ("float32", "float64"), "'float32' or 'float64'")

    def _expect(self, name: str, condition: bool | np.bool_, expected: str) -> None:
        if not condition:
            raise ParameterError(f"Expected {name} to be {expected}, got {getattr(self, name)!r}.")

    def _expect_count(self, name: str) -> None:
        value = getattr(self, name)
        self._expect(name, isinstance(value, int | np.integer) and value > 0, "a positive integer")

    def _expect_choice(self, name: str, *choices: object) -> None:
        self._expect(name, getattr(self, name) in choices, "one of " + ", ".join(map(repr, choices)))

    @property
    def _torch_dtype(self) -> torch.dtype:
        return cast(torch.dtype, getattr(torch, self.dtype))

    # What was learned, and with which parameters ----------------------------------------------------------------

    def _prepared(self, rows: NDArray[Any]) -> Tensor:
        """Return checked rows on the device, as `_prepare` wants them."""
        return self._prepare(torch.tensor(rows, device=self.device))

    @property
    def _is_solved(self) -> bool:
        """Whether there is a solution for all that was learned and for the parameters as they are."""
        return bool(self._solved.parameters == self.get_params())

    def _begin(self, memory: Memory) -> None:
        self._memory = memory
        self._solved = Solved()
        self._learned_with = self.get_params()
        self.classes_ = memory.classes

    def _forget(self) -> None:
        # Only what is ours: scikit-learn hangs attributes of its own on an estimator.
        for name in ("_memory", "_solved", "_learned_with", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    @property
    def _learned(self) -> bool:
        return "_memory" in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned

    def _check_learned(self) -> None:
        if not self._learned:
            raise NotLearnedError(
                f"This {type(self).__name__} has learned nothing yet. Call `partial_fit` or `fit` with examples first."
            )
        self._check_parameters()
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Refuse parameters that were changed although the statistics depend on them."""
        before, now = self._learned_with, self.get_params()
        changed = [
            name for name in now if now[name] != before[name] and not self._may_change(name, before[name], now[name])
        ]
        if changed:
            free = ", ".join(sorted(self._solve_parameters)) or "none"
            raise ParameterError(
                f"Expected {', '.join(changed)} as when learning began, got another value. What was learned depends "
                f"on it: set it back, or call `fit`. Parameters that may change: {free}."
            )

    def _may_change(self, name: str, before: object, now: object) -> bool:
        """Say whether a parameter may change in this way without learning anew."""
        return name in self._solve_parameters

    def _check_kind(self, labels: Labels) -> None:
        expected, got = label_kind(self.classes_), label_kind(labels)
        if expected != got:
            raise InputError(
                f"Expected labels of the kind learned before ({expected}), got {got}. Convert them to one kind first."
            )
