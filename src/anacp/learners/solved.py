"""What was solved from the statistics last, and for which parameters."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

__all__ = ["Solution", "Solved"]

Solution = dict[str, Tensor]


@dataclass
class Solved:
    """The latest solution. It changes in place, so that predicting leaves the estimator's own attributes alone."""

    parameters: dict[str, Any] | None = None  # that it was solved with; None when there is new data
    solution: Solution = field(default_factory=dict)
    predictor: Any = None  # what `_scores` takes, made of it on first use
    sharpness: float | None = None
    kept: dict[str, Any] = field(default_factory=dict)  # what a method wants to reuse from one solve to the next

    def take(self, solution: Solution, parameters: dict[str, Any], sharpness: float | None = None) -> None:
        """Take over a new solution."""
        self.solution, self.parameters, self.sharpness, self.predictor = solution, parameters, sharpness, None
