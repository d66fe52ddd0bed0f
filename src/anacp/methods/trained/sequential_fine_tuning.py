"""Sequential fine-tuning: one task after another, with no protection against forgetting."""

from collections.abc import Generator
from pathlib import Path

import torch

from anacp.adaptation.plan import Plan
from anacp.backbones import Backbone
from anacp.methods.trained.registry import register
from anacp.methods.trained.stage import Stage, State, TaskExamples
from anacp.methods.trained.tuned_network import TunedNetwork

__all__ = ["SequentialFineTuning"]


@register
class SequentialFineTuning(TunedNetwork):
    """All weights are trained on each task's examples, over the logits of all classes seen: it forgets.

    A comparison begins with it: what a method is worth is how far it stays above this.

    Parameters
    ----------
    backbone : str or Backbone
        Any network.
    rate, head_rate : float, default=0.01
        Learning rates of network and head.
    epochs, batch_size : int, default=20, 128
        Passes over a task's items, and items a step.
    weight_decay : float, default=5e-4
        On everything that is trained.
    seed : int, default=0
        Decides the first weights and the order of the rows.
    checkpoints : path, optional
        A folder: a killed `learn` goes on from there.
    """

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        rate: float = 0.01,
        head_rate: float = 0.01,
        epochs: int = 20,
        batch_size: int = 128,
        weight_decay: float = 5e-4,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, seed=seed, checkpoints=checkpoints)
        self.rate, self.head_rate, self.epochs, self.batch_size = rate, head_rate, epochs, batch_size
        self.weight_decay = weight_decay
        self.plan = Plan(epochs, batch_size, "sgd", momentum=0.9, weight_decay=weight_decay)

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        yield from self._fine_tuning(task, state, torch.arange(len(task.task_of)))
