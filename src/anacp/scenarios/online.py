"""A stream of mini-batches, down to one example."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike

from anacp.errors import ParameterError
from anacp.randomness import generator
from anacp.scenarios.base import Scenario, Task, check_integer, register


@register
class Online(Scenario):
    """Any scenario, its tasks cut into mini-batches in a random order; no batch reaches over the end of a task.

    Each batch is a `Task`; `task.stage` says which task of the base it belongs to, so that a runner can evaluate when
    the stage ends rather than after every example.

    Parameters
    ----------
    base : Scenario
        Which rows come in which task.
    batch_size : int, default=1
        Rows at a time; the last batch of a task may be smaller.
    seed : int, default=0
        The order of the rows within each task.
    """

    kind: ClassVar[str] = "online"

    def __init__(self, base: Scenario, *, batch_size: int = 1, seed: int = 0) -> None:
        if not isinstance(base, Scenario) or isinstance(base, Online):
            raise ParameterError(f"Expected a scenario whose tasks are cut into batches, got {type(base).__name__}.")
        self.base = base
        self.batch_size = check_integer(batch_size, "batch_size", least=1)
        self.seed = check_integer(seed, "seed", least=0)
        self.n_tasks = base.n_tasks

    def tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield one task a batch, with the classes that occur in it."""
        y = np.asarray(labels)
        index = 0
        for task in self.base.tasks(y, domains):
            order = torch.randperm(len(task.rows), generator=generator(self.seed, f"online/{task.index}")).numpy()
            for start in range(0, len(order), self.batch_size):
                rows = task.rows[order[start : start + self.batch_size]]
                yield Task(index, np.unique(y[rows]), rows, stage=task.index)
                index += 1

    def test_tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the test rows of the base's tasks: one for each stage."""
        return self.base.test_tasks(labels, domains)

    def describe(self) -> dict[str, object]:
        """Return all settings, ready for JSON."""
        return {"scenario": self.kind, "base": self.base.describe(), "batch_size": self.batch_size, "seed": self.seed}
