"""How far a graph is from the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anacp.errors import NumericalError

# The largest difference of a probability, and of a score in units of the distance from a row's largest to its least.
TOLERANCE = 0.01


@dataclass(frozen=True)
class Deviation:
    """The largest differences between two answers to the same rows, and how often they name the same class."""

    scores: float  # as a share of the mean distance from a row's largest score to its least
    probabilities: float
    equal: float  # the share of rows
    n_rows: int

    @classmethod
    def between(cls, answer: tuple[NDArray[Any], ...], expected: tuple[NDArray[Any], ...]) -> Self:
        """Return the deviation of scores and probabilities (n, c) from those expected; NaN where one is not finite."""
        gaps = [np.abs(np.asarray(one, np.float64) - other).max() for one, other in zip(answer, expected, strict=True)]
        span = np.ptp(expected[0], axis=1).mean() or np.abs(expected[0]).max() or 1.0  # one class has no span
        equal = answer[0].argmax(1) == expected[0].argmax(1)
        return cls(float(gaps[0] / span), float(gaps[1]), float(equal.mean()), len(equal))

    def check(self, *, exact: bool) -> None:
        """Refuse what deviates by more than the tolerance."""
        if self.scores <= TOLERANCE and self.probabilities <= TOLERANCE:
            return
        advice = (
            "Graphs compute in float32, which is too coarse for this model: it cannot be exported."
            if exact
            else "Its weights need more than 12 or 16 bits: export it with exact=True (--exact)."
        )
        raise NumericalError(
            f"Expected a graph that agrees with the library to {TOLERANCE:g}, got a deviation of {self.scores:.2g} of "
            f"the scores and {self.probabilities:.2g} of the probabilities on {self.n_rows:,} rows. {advice}"
        )
