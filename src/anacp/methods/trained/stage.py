"""What a method hands to the training loop: a task's examples come in, stages of training go out."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anacp.adaptation.loop import Batches, Loss
from anacp.adaptation.plan import Group, Plan

__all__ = ["Stage", "State", "TaskExamples"]

State = dict[str, Tensor]  # everything a method keeps between tasks, by name; the part before the first dot is its kind


@dataclass(frozen=True, eq=False)
class TaskExamples:
    """The examples of one task. Classes are numbered in the order in which they arrived."""

    index: int
    items: list[Any]
    codes: Tensor  # (n,) class of each item
    present: Tensor  # (k,) classes of this task, ascending
    task_of: Tensor  # (c,) the task in which each class arrived

    @property
    def targets(self) -> Tensor:
        """The class of each item as its place among `present`."""  # (n,)
        return torch.searchsorted(self.present, self.codes)


@dataclass(frozen=True, eq=False)
class Stage:
    """One training: what moves, by which loss, and how."""

    words: str
    groups: list[Group]
    loss: Loss
    plan: Plan
    portion: float = 1.0  # of the task's work, for progress
    batches: Batches | None = None  # None: the task's items
    n_rows: int | None = None  # None: as many as the task has items
