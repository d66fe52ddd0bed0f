"""One learner through one scenario."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from anacp.datasets import Dataset
from anacp.learners import Learner
from anacp.scenarios import Scenario

__all__ = ["Step", "accuracy_matrix", "run"]


@dataclass(frozen=True)
class Step:
    """What is known after one task."""

    task: int
    n_classes: int
    accuracies: tuple[float, ...]  # percent, on each task seen so far
    learn_seconds: float
    solve_seconds: float
    predict_seconds: float
    stored_bytes: int

    @property
    def accuracy(self) -> float:
        """The unweighted mean over the tasks seen so far."""
        return float(np.mean(self.accuracies))


def run(learner: Learner, data: Dataset, scenario: Scenario) -> Iterator[Step]:
    """Learn the features of a data set task after task; after each, predict the test rows of all tasks seen so far."""
    x_train, y_train, x_test, y_test = data.train.items, data.train.labels, data.test.items, data.test.labels
    assert isinstance(x_train, np.ndarray)
    assert isinstance(x_test, np.ndarray)
    tests = [task.rows for task in scenario.test_tasks(y_test)]
    for task in scenario.tasks(y_train):
        start = perf_counter()
        learner.partial_fit(x_train[task.rows], y_train[task.rows])
        learned = perf_counter()
        learner.solve()
        solved = perf_counter()
        seen = tests[: task.index + 1]
        predictions = learner.predict(x_test[np.concatenate(seen)])
        predicted = perf_counter()
        parts = np.split(predictions, np.cumsum([len(rows) for rows in seen])[:-1])
        yield Step(
            task=task.index,
            n_classes=len(learner.classes_),
            accuracies=tuple(
                100 * float(np.mean(part == y_test[rows])) for part, rows in zip(parts, seen, strict=True)
            ),
            learn_seconds=learned - start,
            solve_seconds=solved - learned,
            predict_seconds=predicted - solved,
            stored_bytes=sum(part.bytes for part in learner.parts()),
        )


def accuracy_matrix(steps: Sequence[Step]) -> NDArray[np.float64]:
    """Return A[t, i], percent; NaN where task i was still to come."""
    matrix = np.full((len(steps), len(steps)), np.nan)
    for t, step in enumerate(steps):
        matrix[t, : len(step.accuracies)] = step.accuracies
    return matrix
