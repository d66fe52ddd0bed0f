"""A learner of features as a method of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.learners import Labels, Learner, StoredPart
from anacp.progress import Report


class OnFeatures:
    """Drives a learner through the `Method` protocol; examples are rows of features."""

    modality = "features"
    seconds_before = 0.0  # a killed `learn` starts over

    def __init__(self, learner: Learner[Any]) -> None:
        self.learner = learner

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""
        return self.learner.classes_

    def learn(self, examples: Sequence[Any], labels: ArrayLike, *, report: Report | None = None) -> None:
        """Add one task to the statistics; `solve`, or the first prediction, computes from them."""
        self.learner.partial_fit(np.asarray(examples), labels)

    def solve(self) -> None:
        """Solve now what the first prediction would solve."""
        self.learner.solve()

    def scores(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one score for each row and class, also where scikit-learn has one number for two classes."""  # (n, c)
        return self.learner.scores(np.asarray(examples))

    def predict(self, examples: Sequence[Any]) -> Labels:
        """Return the label of each row."""
        return self.learner.predict(np.asarray(examples))

    def predict_proba(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one probability for each row and class."""
        return self.learner.predict_proba(np.asarray(examples))

    def parts(self) -> list[StoredPart]:
        """Return what is stored between tasks."""
        return self.learner.parts()

    def save(self, path: str | Path) -> None:
        """Write the learner's file, to the bit: a run that goes on from it is the run that was not stopped."""
        self.learner.save(path, exact=True)
