"""A learner of features as a method of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.learners import Learner, load
from anacp.learners.inputs import Labels
from anacp.learners.summary import Part
from anacp.methods.method import Progress

__all__ = ["OnFeatures"]


class OnFeatures:
    """Drives a learner through the `Method` protocol; examples are rows of features."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    @classmethod
    def load(cls, path: str | Path, *, device: str = "cpu") -> OnFeatures:
        """Return what `save` wrote, ready for the next task."""
        return cls(load(path, device=device))

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""
        return self.learner.classes_

    @property
    def seconds_before(self) -> float:
        """Nothing: a killed `learn` starts over."""
        return 0.0

    def learn(self, examples: Sequence[Any], labels: ArrayLike, *, progress: Progress | None = None) -> None:
        """Add one task to the statistics; `solve`, or the first prediction, computes from them."""
        self.learner.partial_fit(np.asarray(examples), labels)

    def solve(self) -> None:
        """Solve now what the first prediction would solve."""
        self.learner.solve()

    def scores(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one score for each row and class, also where scikit-learn has one number for two classes."""  # (n, c)
        return self.learner._score(np.asarray(examples)).cpu().numpy()

    def predict(self, examples: Sequence[Any]) -> Labels:
        """Return the label of each row."""
        return self.learner.predict(np.asarray(examples))

    def parts(self) -> list[Part]:
        """Return what is stored between tasks."""
        return self.learner.parts()

    def save(self, path: str | Path) -> None:
        """Write the learner's file."""
        self.learner.save(path)
