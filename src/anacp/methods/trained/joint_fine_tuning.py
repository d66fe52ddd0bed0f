"""Joint fine-tuning: LoRA and head trained on all tasks at once, the upper bound of a comparison."""

from collections.abc import Generator
from pathlib import Path
from typing import Literal

from torch import Tensor, nn

from anacp.adaptation import OptimiserPlan, Parts, Recipe
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.methods.trained.task import Stage, State, TaskExamples
from anacp.methods.trained.tuned_network import TunedNetwork


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(
    takes="items",
    joint=True,
    settings={
        "minilm": {
            "rank": 16,
            "everywhere": True,
            "rate": 5e-4,
            "head_rate": 5e-3,
            "epochs": 4,
            "batch_size": 32,
            "schedule": "one-cycle",
        }
    },
    page="joint",
)
class JointFineTuning(TunedNetwork):
    """LoRA and a linear head, trained on the examples of all tasks together.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    rank : int, default=8
        Of LoRA.
    everywhere : bool, default=False
        Whether every linear layer of every block takes LoRA, instead of queries and values alone.
    rate, head_rate : float, default=1e-4, 1e-3
        Learning rates of LoRA and head. Published with MoCo-v3: ten times both, and a `final_rate` of 0.01.
    schedule : {"cosine", "one-cycle"}, default="cosine"
        Along a cosine from epoch to epoch, or up and down from step to step.
    final_rate : float, default=0.1
        Share of the rates at the end of the cosine.
    weight_decay : float, default=0.01
        AdamW's.
    """

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        rank: int = 8,
        everywhere: bool = False,
        rate: float = 1e-4,
        head_rate: float = 1e-3,
        epochs: int = 20,
        batch_size: int = 128,
        schedule: Literal["cosine", "one-cycle"] = "cosine",
        final_rate: float = 0.1,
        weight_decay: float = 0.01,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        self.rank, self.everywhere, self.head_rate = rank, everywhere, head_rate
        self.schedule, self.final_rate, self.weight_decay = schedule, final_rate, weight_decay
        self.plan = OptimiserPlan(
            epochs, batch_size, "adamw", weight_decay=weight_decay, schedule=schedule, final_rate=final_rate
        )

    def _trainable(self, network: nn.Module) -> dict[str, Tensor]:
        parts: Literal["lora", "lora-everywhere"] = "lora-everywhere" if self.everywhere else "lora"
        recipe = Recipe("joint fine-tuning", self.head_rate, self.rate, parts, self.rank)
        return Parts.inside(network, recipe, self.seed).parameters

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        yield from self._fine_tuning(task, state, task.present)
