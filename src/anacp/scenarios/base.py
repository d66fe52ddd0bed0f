"""What every scenario is: a way to divide training rows, known from labels alone, and back from its description."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.errors import InputError, ParameterError
from anacp.names import Names


@dataclass(frozen=True, eq=False)
class Task:
    """Some rows that arrive together, and the classes among them.

    `predict(x, classes=task.classes)` is all that task-incremental evaluation needs.
    """

    index: int
    classes: NDArray[Any]  # sorted or in order of arrival; every class of `rows` is among them
    rows: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))  # empty where no labels were given
    stage: int = -1  # the task of the underlying scenario that this is a part of; its own index where it is none

    def __post_init__(self) -> None:
        if self.stage < 0:
            object.__setattr__(self, "stage", self.index)


class Scenario(ABC):
    """Divides rows into tasks: every row in exactly one, and the same rows for the same settings, always."""

    kind: ClassVar[str]
    n_tasks: int  # how many times there is something to evaluate

    def __len__(self) -> int:
        return self.n_tasks

    @abstractmethod
    def tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the tasks with their training rows: positions in `labels` (and `domains`, where they matter)."""

    def test_tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield, stage by stage, the test rows that a task is judged by."""
        return self.tasks(labels, domains)

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return all settings, ready for JSON; `from_description` makes the same scenario of them."""


SCENARIOS: Names[type[Scenario]] = Names("scenario")
S = TypeVar("S", bound=type[Scenario])


def register(cls: S) -> S:
    """Class decorator: make a scenario known by its kind to descriptions and to the tests of the laws."""
    SCENARIOS[cls.kind] = cls
    return cls


def from_description(description: Mapping[str, Any]) -> Scenario:
    """Return the scenario whose `describe()` gave this, also after a trip through JSON."""
    kind = SCENARIOS.spelled(str(description.get("scenario", "")))
    settings = {key: value for key, value in description.items() if key != "scenario"}
    if "base" in settings:
        settings["base"] = from_description(settings["base"])
    try:
        return SCENARIOS[kind](**settings)
    except TypeError as problem:
        raise ParameterError(
            f"Expected the settings of a {kind} scenario as `describe()` gives them, got {', '.join(settings)} "
            f"({problem})."
        ) from problem


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
