"""A task as it comes: its examples, its classes in the order of their arrival, and the stages of training on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from anacp.adaptation import Batches, Group, Loss, OptimiserPlan, Piece, check_task, network_inputs, read_pieces
from anacp.backbones import Backbone
from anacp.errors import InputError
from anacp.files import TensorFile
from anacp.learners import label_kind, restored_labels

PIECE = 32  # rows that are read together
State = dict[str, Tensor]  # everything a method keeps between tasks, by name; the part before the first dot is its kind


@dataclass(frozen=True, eq=False)
class Arrived:
    """The classes so far, in the order of their arrival: the order of the head's rows."""

    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.str_))  # (c,)
    task_of: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.int64))  # (c,)
    n_tasks: int = 0

    def with_task(self, items: list[Any], labels: ArrayLike) -> TaskExamples:
        """Return the next task; its classes may be new or have come before."""
        classes, codes = check_task(items, labels)
        if self.n_tasks and label_kind(classes) != label_kind(self.classes):
            raise InputError(
                f"Expected labels of the kind learned before, {label_kind(self.classes)}, got {label_kind(classes)}. "
                "Convert them first."
            )
        new = classes[~np.isin(classes, self.classes)]
        together = np.concatenate([self.classes, new]) if self.n_tasks else new
        task_of = torch.cat([self.task_of, torch.full((len(new),), self.n_tasks)])
        place_of = {label: place for place, label in enumerate(together.tolist())}
        places = torch.tensor([place_of[label] for label in classes.tolist()])
        return TaskExamples(Arrived(together, task_of, self.n_tasks + 1), items, places[torch.from_numpy(codes)])

    def header(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "classes": self.classes.tolist(),
            "classes_dtype": self.classes.dtype.str,
            "task_of": self.task_of.tolist(),
            "n_tasks": self.n_tasks,
        }

    @classmethod
    def restored(cls, file: TensorFile) -> Arrived:
        """Return it from what `header` gave, if it can be: a task for each class, none before it came."""
        header = file.header
        if header["n_tasks"] == 0 and not header["classes"] and not header["task_of"]:
            return cls()
        try:
            classes = restored_labels(header["classes"], header["classes_dtype"])
        except ValueError as problem:
            raise file.damage(problem) from problem
        task_of = header["task_of"]
        if len(task_of) != len(classes) or max(task_of) >= header["n_tasks"] or sorted(task_of) != task_of:
            raise file.damage("task_of is not one task for each class, in order")
        return cls(classes, torch.tensor(task_of, dtype=torch.int64), header["n_tasks"])


@dataclass(frozen=True, eq=False)
class TaskExamples:
    """The examples of one task."""

    arrived: Arrived  # with this task
    items: list[Any]
    codes: Tensor  # (n,) class of each item

    @property
    def index(self) -> int:
        """Which task it is, from 0."""
        return self.arrived.n_tasks - 1

    @property
    def present(self) -> Tensor:
        """The classes of this task, ascending."""  # (k,)
        return torch.from_numpy(np.unique(self.codes.numpy()))

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
    plan: OptimiserPlan
    portion: float = 1.0  # of the task's work, for progress
    batches: Batches | None = None  # None: the task's items
    n_rows: int | None = None  # None: as many as the task has items


def sized(*shape: int) -> Tensor:
    """Return a tensor without numbers, as a state has them."""
    return torch.empty(shape, dtype=torch.float32, device="meta")


def feature_batches(x: NDArray[Any], groups: list[list[int]]) -> Iterator[list[Piece]]:
    """Return batches of rows of features, each in one piece."""
    return ([(rows, {"features": x[rows]})] for rows in groups)


def outputs_of(
    backbone: Backbone, items: Sequence[Any], width: int, forward: Callable[[list[int], tuple[Tensor, ...]], Tensor]
) -> Tensor:
    """Return forward(rows, inputs) of all items, without gradients; the backbone says how items are read."""  # (n, w)
    outputs = torch.empty(len(items), width)
    order = backbone.reader.order(items)
    groups = [order[start : start + PIECE] for start in range(0, len(order), PIECE)]
    with torch.no_grad():
        for pieces in read_pieces(backbone, items, groups):
            for rows, arrays in pieces:
                outputs[rows] = forward(rows, network_inputs(arrays, backbone.device)).cpu()
    return outputs
