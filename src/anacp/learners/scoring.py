"""A solved learner as a torch module: what an export traces."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anacp.errors import InputError
from anacp.labels import Labels
from anacp.learners.base import Learner
from anacp.learners.calibration import mixed_draws, probabilities
from anacp.learners.solution import numbers

COMPARED_ROWS = 1000  # how many rows are drawn to compare on, shared out among the classes


class Scoring(nn.Module):
    """Rows of features (n, d) → scores and probabilities (n, c), in float32 on the CPU, of one moment of a learner.

    What is not solved yet is solved first. It holds few numbers and makes others of them when it runs, which is to be
    once, under a tracer: what was made before would be traced as numbers, not as the way to them.
    """

    def __init__(self, learner: Learner[Any]) -> None:
        super().__init__()
        self.learner = learner._snapshot()
        known = self.learner._known()
        solved = self.learner._solved(known)
        self.classes: Labels = known.memory.classes
        self._sharpness = self.learner._sharpness(known, solved)
        self._solution = self.learner._portable(solved.solution)
        for place, tensor in enumerate(numbers(self._solution)):  # what is a buffer is traced, anything else is fixed
            self.register_buffer(f"numbers_{place}", tensor)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores and probabilities."""
        scores = self.learner._scores(self.learner._prepare(features), self._solution)
        return scores, probabilities(self.learner._evidence(scores), self._sharpness)

    def examples(self) -> NDArray[np.float32]:
        """Return rows (n, d) such as were learned, and some between two classes: drawn from what is remembered."""
        moments = self.learner._known().memory.moments
        drawn = mixed_draws(moments, COMPARED_ROWS, seed=self.learner.random_state).rows
        rows = drawn.to("cpu", torch.float32)
        try:
            self.learner._prepare(rows)
        except InputError:
            rows = rows.abs()  # some methods take no negative features
        return rows.numpy()

    def expected(self, rows: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the scores and probabilities that the library gives."""
        return self.learner.scores(rows), self.learner.predict_proba(rows)
