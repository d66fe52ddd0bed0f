"""What every scenario is: a way to divide training rows, known from labels alone."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.errors import InputError, ParameterError
from anacp.scenarios.task import Task

__all__ = ["Scenario", "check_integer", "rows_by_task"]


class Scenario(ABC):
    """Divides rows into tasks: every row in exactly one, and the same rows for the same settings, always."""

    kind: ClassVar[str]
    n_tasks: int  # how many times there is something to evaluate

    @abstractmethod
    def tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the tasks with their training rows: positions in `labels` (and `domains`, where they matter)."""

    def test_tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield, stage by stage, the test rows that a task is judged by."""
        return self.tasks(labels, domains)

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return all settings, ready for JSON; `from_description` makes the same scenario of them."""


def rows_by_task(task_of: Mapping[Any, int], labels: ArrayLike, n_tasks: int, what: str) -> list[NDArray[np.intp]]:
    """Return the rows of each task, ascending, where a row's label decides."""
    distinct, codes = np.unique(np.asarray(labels), return_inverse=True)
    unknown = [label for label in distinct.tolist() if label not in task_of]
    if unknown:
        raise InputError(
            f"Expected rows of the {len(task_of)} {what} that the scenario was made with, got others as well: "
            f"{', '.join(map(repr, unknown[:5]))}. Make the scenario with all of them, or leave those rows out."
        )
    tasks = np.array([task_of[label] for label in distinct.tolist()], np.intp)[codes]  # (n,)
    return [np.flatnonzero(tasks == index) for index in range(n_tasks)]


def check_integer(value: object, name: str, *, least: int) -> int:
    """Return a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"Expected `{name}` to be a whole number of at least {least}, got {value!r}.")
    return int(value)
