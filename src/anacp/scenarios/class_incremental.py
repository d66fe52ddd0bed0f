"""Disjoint groups of classes, one after another."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.errors import ParameterError
from anacp.scenarios.base import Scenario, Task, check_integer, register, rows_by_task
from anacp.scenarios.ordering import Order, arrange, described, distinct


@register
class ClassIncremental(Scenario):
    """New classes with every task; by default the paper's protocol.

    Parameters
    ----------
    classes : array-like
        Labels; duplicates are dropped.
    n_tasks : int, default=10
        How many groups; their sizes differ by one at most. In the paper's order task i is classes[i::n_tasks], in any
        other a slice of neighbours.
    sizes : sequence of int, optional
        Instead of `n_tasks`: how many classes each task has, as slices of neighbours in the order chosen.
    order : {"paper", "seed1993", "alphabetical"} or sequence of labels, default="paper"
        "paper" shuffles the sorted classes with Python's generator, "seed1993" permutes them with numpy's legacy
        generator of that seed, "alphabetical" leaves them sorted, a sequence is taken as it is.
    seed : int, default=0
        Seed of the paper's class order, and of nothing else.
    """

    kind: ClassVar[str] = "class-incremental"

    def __init__(
        self,
        classes: ArrayLike,
        *,
        n_tasks: int | None = None,
        sizes: Sequence[int] | None = None,
        order: Order = "paper",
        seed: int = 0,
    ) -> None:
        self.classes = distinct(classes, "class")
        self.order = order
        self.seed = check_integer(seed, "seed", least=0)
        self.sizes = None if sizes is None else [check_integer(size, "sizes", least=1) for size in sizes]
        arranged = arrange(self.classes, order, self.seed)
        if self.sizes is None:
            self.n_tasks = 10 if n_tasks is None else n_tasks
            self._check_number()
            strided = isinstance(order, str) and order == "paper"
            slices = [arranged[index :: self.n_tasks] for index in range(self.n_tasks)]
            self.groups: list[NDArray[Any]] = slices if strided else np.array_split(arranged, self.n_tasks)
        else:
            self.n_tasks = len(self.sizes)
            self._check_sizes(n_tasks)
            self.groups = np.split(arranged, np.cumsum(self.sizes)[:-1])

    def __iter__(self) -> Iterator[Task]:
        """Yield the tasks without rows, for those who need the classes alone."""
        for index, group in enumerate(self.groups):
            yield Task(index, group)

    def tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the tasks with the rows of their classes. Domains do not matter here."""
        task_of = {label: index for index, group in enumerate(self.groups) for label in group.tolist()}
        for index, rows in enumerate(rows_by_task(task_of, labels, self.n_tasks, "classes")):
            yield Task(index, self.groups[index], rows)

    def describe(self) -> dict[str, object]:
        """Return all settings, ready for JSON."""
        number = {"n_tasks": self.n_tasks} if self.sizes is None else {"sizes": self.sizes}
        classes = self.classes.tolist()
        return {"scenario": self.kind, "classes": classes, **number, **described(self.order, self.seed)}

    def _check_number(self) -> None:
        check_integer(self.n_tasks, "n_tasks", least=0)
        if not 1 <= self.n_tasks <= len(self.classes):
            raise ParameterError(
                f"Expected between 1 and {len(self.classes)} tasks, one class each at least, got {self.n_tasks}."
            )

    def _check_sizes(self, n_tasks: int | None) -> None:
        total = sum(self.sizes or [])
        if total != len(self.classes):
            raise ParameterError(
                f"Expected `sizes` that add up to the {len(self.classes)} classes, got {self.sizes}: {total}."
            )
        if n_tasks not in (None, self.n_tasks):
            raise ParameterError(
                f"Expected `n_tasks` or `sizes`, got n_tasks={n_tasks} and {self.n_tasks} sizes. Leave `n_tasks` out."
            )
