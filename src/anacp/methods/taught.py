"""What a classifier was taught, as one value: threads see all of it or nothing."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.learners import Labels, Learner
from anacp.methods.learned_examples import LearnedExamples


@dataclass(frozen=True, eq=False)
class Taught:
    """A learner, which nobody changes any more, and the examples that it learned: the two belong together."""

    learner: Learner[Any]
    examples: LearnedExamples

    @property
    def classes(self) -> Labels:
        """The classes learned so far, sorted; none at first."""
        return self.learner.classes_ if self.learner._learned else np.empty(0, np.str_)

    def with_examples(self, x: NDArray[Any], labels: Labels, digests: Sequence[bytes]) -> Taught:
        """Return what is known after learning these as well."""
        learner = copy.copy(self.learner).partial_fit(x, labels)
        return Taught(learner, self.examples + LearnedExamples.of(labels, digests))

    def without_examples(self, x: NDArray[Any], labels: Labels, digests: Sequence[bytes]) -> Taught:
        """Return what is known without these."""
        learner = copy.copy(self.learner).unlearn(x, labels)
        return Taught(learner, self.examples - LearnedExamples.of(labels, digests))
