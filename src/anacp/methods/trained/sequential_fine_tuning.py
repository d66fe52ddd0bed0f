"""Sequential fine-tuning: one task after another, with no protection against forgetting."""

from collections.abc import Generator
from pathlib import Path

import torch

from anacp.adaptation import OptimiserPlan
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.methods.trained.task import Stage, State, TaskExamples
from anacp.methods.trained.tuned_network import TunedNetwork


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(takes="items", settings={"minilm": {"rate": 1e-5, "epochs": 2, "batch_size": 32}}, page="slca")
class SequentialFineTuning(TunedNetwork):
    """All weights are trained on each task's examples, over the logits of all classes seen: it forgets.

    A comparison begins with it: what a method is worth is how far it stays above this.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    rate, head_rate : float, default=0.01
        Learning rates of network and head.
    weight_decay : float, default=5e-4
        On everything that is trained.
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
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        self.head_rate, self.weight_decay = head_rate, weight_decay
        self.plan = OptimiserPlan(epochs, batch_size, "sgd", momentum=0.9, weight_decay=weight_decay)

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        yield from self._fine_tuning(task, state, torch.arange(len(task.arrived.classes)))
