"""Which class is taken for which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ClassResult:
    """How one class fared."""

    label: Any
    n: int  # test examples
    right: int
    taken_for: Any | None  # the class it is mistaken for most often; None if never
    taken_for_n: int

    @property
    def accuracy(self) -> float:
        """The share of its examples that were recognised, in per cent."""
        return 100 * self.right / self.n


def confusion_matrix(expected: ArrayLike, predicted: ArrayLike, classes: ArrayLike) -> NDArray[np.int64]:
    """Return how many examples of class i were taken for class j; the classes must be sorted."""  # (c, c)
    known = np.asarray(classes)
    matrix = np.zeros((len(known), len(known)), np.int64)
    np.add.at(matrix, (np.searchsorted(known, np.asarray(expected)), np.searchsorted(known, np.asarray(predicted))), 1)
    return matrix


def class_results(matrix: NDArray[np.int64], classes: Sequence[Any]) -> list[ClassResult]:
    """Return the classes that have test examples, the worst first."""
    results = []
    for index, label in enumerate(classes):
        row = matrix[index]
        wrong = row.copy()
        wrong[index] = 0
        other = int(wrong.argmax())
        if row.sum():
            taken_for = classes[other] if wrong[other] else None
            results.append(ClassResult(label, int(row.sum()), int(row[index]), taken_for, int(wrong[other])))
    return sorted(results, key=lambda result: result.accuracy)
