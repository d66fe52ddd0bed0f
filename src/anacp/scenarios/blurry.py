"""Tasks without sharp borders: classes come back."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike

from anacp.errors import ParameterError
from anacp.randomness import generator
from anacp.scenarios.base import Scenario, Task, check_integer, register
from anacp.scenarios.class_incremental import ClassIncremental


@register
class Blurry(Scenario):
    """A class-incremental scenario in which a share of each class's rows appears in other tasks.

    Test rows stay with the task that a class is at home in.

    Parameters
    ----------
    base : ClassIncremental
        Which task each class is at home in.
    share : float, default=0.1
        The share of each class's rows that leaves, rounded to whole rows; each goes to one of the other tasks, all
        equally likely.
    seed : int, default=0
        Which rows leave, and where to. Independent of the class order.
    """

    kind: ClassVar[str] = "blurry"

    def __init__(self, base: ClassIncremental, *, share: float = 0.1, seed: int = 0) -> None:
        if not isinstance(base, ClassIncremental):
            raise ParameterError(f"Expected a ClassIncremental scenario to blur, got {type(base).__name__}.")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ParameterError(f"Expected `share` to be a number from 0 to 1, got {share!r}.")
        if share and base.n_tasks == 1:
            raise ParameterError("Expected at least 2 tasks for rows to move between, got 1. Raise `n_tasks`.")
        self.base = base
        self.share = float(share)
        self.seed = check_integer(seed, "seed", least=0)
        self.n_tasks = base.n_tasks

    def tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the tasks with their rows; a task's classes are those at home there and those that came to visit."""
        y = np.asarray(labels)
        task_of_row = np.empty(len(y), np.intp)
        for task in self.base.tasks(y, domains):
            task_of_row[task.rows] = task.index
            for label in task.classes.tolist():
                rows = task.rows[y[task.rows] == label]
                draw = generator(self.seed, f"blurry/{label}")
                leaving = rows[torch.randperm(len(rows), generator=draw).numpy()[: round(self.share * len(rows))]]
                if len(leaving):  # one task means a share of zero, and a range without an end
                    steps = torch.randint(1, self.n_tasks, (len(leaving),), generator=draw).numpy()
                    task_of_row[leaving] = (task.index + steps) % self.n_tasks
        for index, home in enumerate(self.base.groups):
            rows = np.flatnonzero(task_of_row == index)
            yield Task(index, np.unique(np.concatenate([home, y[rows]])), rows)

    def test_tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the test rows of the classes at home in each task."""
        return self.base.tasks(labels, domains)

    def describe(self) -> dict[str, object]:
        """Return all settings, ready for JSON."""
        return {"scenario": self.kind, "base": self.base.describe(), "share": self.share, "seed": self.seed}
