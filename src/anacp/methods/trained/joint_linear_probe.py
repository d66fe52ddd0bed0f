"""Joint linear probe: softmax regression on the frozen features of all tasks at once."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from anacp.adaptation.loop import Piece, cross_entropy
from anacp.adaptation.plan import Group, Plan
from anacp.backbones import Backbone
from anacp.methods.trained.base import TrainedMethod
from anacp.methods.trained.head import OpenRows, scores_of
from anacp.methods.trained.registry import register
from anacp.methods.trained.stage import Stage, State, TaskExamples

__all__ = ["JointLinearProbe"]


@register
class JointLinearProbe(TrainedMethod):
    """A linear head on the frozen backbone, trained on all tasks together: what the features alone allow.

    `anacp.LinearProbe` is the same on rows of features.

    Parameters
    ----------
    backbone : str or Backbone
        Any network.
    rate : float, default=0.01
        Learning rate.
    epochs, batch_size : int, default=30, 128
        Passes over the items, and items a step.
    weight_decay : float, default=5e-4
        On weights and intercepts.
    seed : int, default=0
        Decides the first weights and the order of the rows.
    checkpoints : path, optional
        A folder: a killed `learn` goes on from there.
    """

    joint: ClassVar[bool] = True

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        rate: float = 0.01,
        epochs: int = 30,
        batch_size: int = 128,
        weight_decay: float = 5e-4,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, seed=seed, checkpoints=checkpoints)
        self.rate, self.epochs, self.batch_size, self.weight_decay = rate, epochs, batch_size, weight_decay
        self.plan = Plan(epochs, batch_size, "sgd", momentum=0.9, weight_decay=weight_decay)

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        device = self.backbone.device
        x, targets = self.backbone.encode(task.items), task.targets.to(device)
        head = OpenRows(state, task.present, device)

        def batches(_: int, groups: list[list[int]]) -> Iterable[list[Piece]]:
            return ([(rows, {"features": x[rows]})] for rows in groups)

        def loss(rows: list[int], inputs: tuple[Tensor, ...]) -> tuple[Tensor, int]:
            return cross_entropy(head(*inputs), targets[rows])

        yield Stage("linear probe", [Group(head.parameters, self.rate)], loss, self.plan, batches=batches)
        head.close()

    def _scores(self, items: Sequence[Any], state: State) -> Tensor:
        return scores_of(state, torch.from_numpy(self.backbone.encode(items)))
