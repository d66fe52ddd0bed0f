"""Which examples were taken for something else, the worst pairs of classes first."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Mistake:
    """One example that was taken for another class."""

    position: int  # among the examples
    label: Any
    taken_for: Any
    probability: float  # of what it was taken for
    own_probability: float  # of its label

    @property
    def margin(self) -> float:
        """By how much the wrong class was the likelier; a small one is an uncertain answer."""
        return self.probability - self.own_probability


def mistakes(expected: ArrayLike, classes: NDArray[Any], probabilities: NDArray[Any]) -> list[Mistake]:
    """Return the wrong answers: pairs of classes with most of them first, within a pair the most uncertain first.

    Parameters
    ----------
    expected : array-like of shape (n,)
        The labels, all among the classes.
    classes : array of shape (c,)
        Sorted.
    probabilities : array of shape (n, c)
        What was answered.
    """
    labels = np.asarray(expected)
    own, winners = np.searchsorted(classes, labels), probabilities.argmax(1)
    names = classes.tolist()
    found = [
        Mistake(
            int(row), names[own[row]], names[winners[row]], *(float(probabilities[row, c[row]]) for c in (winners, own))
        )
        for row in np.flatnonzero(own != winners)
    ]
    often = Counter((one.label, one.taken_for) for one in found)

    def place(one: Mistake) -> tuple[Any, ...]:
        return -often[one.label, one.taken_for], str(one.label), str(one.taken_for), one.margin, one.position

    return sorted(found, key=place)
