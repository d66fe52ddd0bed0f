"""One learner through one scenario."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from anacp.learners import Learner
from anacp.samples import Sample
from anacp.scenarios import ClassIncremental

__all__ = ["Step", "accuracy_matrix", "run"]


@dataclass(frozen=True)
class Step:
    """What is known after one task."""

    task: int
    n_classes: int
    accuracies: tuple[float, ...]  # percent, on each task seen so far
    learn_seconds: float
    predict_seconds: float  # includes the solve that learning left for later
    stored_bytes: int

    @property
    def accuracy(self) -> float:
        """The unweighted mean over the tasks seen so far."""
        return float(np.mean(self.accuracies))


def run(learner: Learner, sample: Sample, scenario: ClassIncremental) -> Iterator[Step]:
    """Learn task after task; after each, predict the test rows of all tasks seen so far."""
    seen: list[NDArray[np.bool_]] = []
    for task in scenario:
        rows = np.isin(sample.y_train, task.classes)
        start = perf_counter()
        learner.partial_fit(sample.x_train[rows], sample.y_train[rows])
        learned = perf_counter()
        seen.append(np.isin(sample.y_test, task.classes))
        tested = np.logical_or.reduce(seen)
        correct = np.zeros(len(tested))
        predicting = perf_counter()
        predictions = learner.predict(sample.x_test[tested])
        predicted = perf_counter()
        correct[tested] = predictions == sample.y_test[tested]
        yield Step(
            task=task.index,
            n_classes=len(learner.classes_),
            accuracies=tuple(100 * float(correct[rows_of_task].mean()) for rows_of_task in seen),
            learn_seconds=learned - start,
            predict_seconds=predicted - predicting,
            stored_bytes=sum(part.bytes for part in learner.parts()),
        )


def accuracy_matrix(steps: Sequence[Step]) -> NDArray[np.float64]:
    """Return A[t, i], percent; NaN where task i was still to come."""
    matrix = np.full((len(steps), len(steps)), np.nan)
    for t, step in enumerate(steps):
        matrix[t, : len(step.accuracies)] = step.accuracies
    return matrix
