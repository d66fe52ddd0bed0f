"""What arrives together."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "Task"]

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Task:
    """Some rows that arrive together, and the classes among them.

    `predict(x, classes=task.classes)` is all that task-incremental evaluation needs.
    """

    index: int
    classes: NDArray[Any]  # sorted or in order of arrival; every class of `rows` is among them
    rows: Rows = field(default_factory=lambda: np.empty(0, np.intp))  # empty where no labels were given
    stage: int = -1  # the task of the underlying scenario that this is a part of; its own index where it is none

    def __post_init__(self) -> None:
        if self.stage < 0:
            object.__setattr__(self, "stage", self.index)
