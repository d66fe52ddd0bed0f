"""Joint linear probe: softmax regression on the frozen features of all tasks at once."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anacp.adaptation import Group, OptimiserPlan, cross_entropy
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.methods.trained.base import TrainedMethod
from anacp.methods.trained.head import OpenRows, scores_of
from anacp.methods.trained.task import Stage, State, TaskExamples, feature_batches


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(takes="items", joint=True, settings={"minilm": {"rate": 0.1}}, page="joint")
class JointLinearProbe(TrainedMethod):
    """A linear head on the frozen backbone, trained on all tasks together: what the features alone allow.

    `anacp.LinearProbe` is the same on rows of features.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    weight_decay : float, default=5e-4
        On weights and intercepts.
    """

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
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        self.weight_decay = weight_decay
        self.plan = OptimiserPlan(epochs, batch_size, "sgd", momentum=0.9, weight_decay=weight_decay)

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        device = self.backbone.device
        x, targets = self.backbone.encode(task.items), task.targets.to(device)
        head = OpenRows(state, task.present, device)

        def loss(rows: list[int], inputs: tuple[Tensor, ...]) -> tuple[Tensor, int]:
            return cross_entropy(head(*inputs), targets[rows])

        groups = [Group(head.parameters, self.rate)]
        yield Stage("linear probe", groups, loss, self.plan, batches=lambda _, rows: feature_batches(x, rows))
        head.close()

    def _scores(self, items: Sequence[Any], state: State) -> Tensor:
        return scores_of(state, torch.from_numpy(self.backbone.encode(items)))
