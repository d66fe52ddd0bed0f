"""Disjoint groups of classes, one after another."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.errors import ParameterError

__all__ = ["ClassIncremental", "Task"]


@dataclass(frozen=True)
class Task:
    """One group of classes that arrive together."""

    index: int
    classes: NDArray[Any]


class ClassIncremental:
    """The paper's protocol: the sorted class list is shuffled by Python's generator, task i is classes[i::n_tasks].

    Parameters
    ----------
    classes : array-like
        Labels; duplicates are dropped.
    n_tasks : int, default=10
        How many groups; their sizes differ by one at most.
    seed : int, default=0
        Seed of the class order, and of nothing else.
    """

    def __init__(self, classes: ArrayLike, *, n_tasks: int = 10, seed: int = 0) -> None:
        self.classes = np.unique(np.asarray(classes))
        self.n_tasks = n_tasks
        self.seed = seed
        if not 1 <= n_tasks <= len(self.classes):
            raise ParameterError(
                f"Expected between 1 and {len(self.classes)} tasks, one class each at least, got {n_tasks}."
            )

    def __len__(self) -> int:
        return self.n_tasks

    def __iter__(self) -> Iterator[Task]:
        order = list(range(len(self.classes)))
        random.Random(self.seed).shuffle(order)
        for index in range(self.n_tasks):
            yield Task(index, self.classes[order[index :: self.n_tasks]])
