"""DualPrompt: general prefixes for all tasks, expert prefixes for each (Wang et al. 2022)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.adaptation import OptimiserPlan
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.methods.trained.prompt_method import PromptMethod, first_values
from anacp.methods.trained.prompted_network import Prompts
from anacp.methods.trained.task import State, sized


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(takes="items", settings={"minilm": {"rate": 0.1, "epochs": 2, "batch_size": 32}}, page="dualprompt")
class DualPrompt(PromptMethod):
    """Keys and values added to the attention: general ones in the first blocks, a task's own in the next.

    Training uses the task's own expert; a prediction uses the one whose key is nearest to the query. Experts and keys
    of earlier tasks stay as they are.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    general_layers, expert_layers : sequence of int, default=(0, 1), (2, 3, 4)
        Blocks, counted from 0.
    general_length, expert_length : int, default=5
        Keys, and as many values, in each of these blocks. Published with ImageNet-R: experts of 20.
    pull : float, default=1
        Weight of the term that draws the task's key to the queries.
    rate : float, default=0.03
        Learning rate for 256 rows a step; it is scaled with `batch_size`.
    clip : float, default=1
        Largest norm of the gradient.
    """

    rate_is_for: ClassVar[int | None] = 256

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        general_layers: Sequence[int] = (0, 1),
        expert_layers: Sequence[int] = (2, 3, 4),
        general_length: int = 5,
        expert_length: int = 5,
        pull: float = 1.0,
        rate: float = 0.03,
        epochs: int = 5,
        batch_size: int = 128,
        clip: float = 1.0,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        self.general_layers, self.expert_layers = tuple(general_layers), tuple(expert_layers)
        self.layers = self.general_layers + self.expert_layers
        self.general_length, self.expert_length, self.pull, self.clip = general_length, expert_length, pull, clip
        self.plan = OptimiserPlan(epochs, batch_size, "adam", clip=clip)

    def _outlines(self, n_classes: int, n_tasks: int) -> State:
        width, outlines = self.backbone.n_features, super()._outlines(n_classes, n_tasks)
        outlines["prompts.general"] = sized(len(self.general_layers), 2, self.general_length, width)
        for task in range(n_tasks):
            outlines[f"prompts.expert {task}"] = sized(len(self.expert_layers), 2, self.expert_length, width)
            outlines[f"keys.expert {task}"] = sized(width)
        return outlines

    def _grow(self, state: State, task: int) -> list[str]:
        width = self.backbone.n_features
        if task == 0:
            shape = (len(self.general_layers), 2, self.general_length, width)
            state["prompts.general"] = first_values(self.seed, "DualPrompt general", *shape)
        own = [f"prompts.expert {task}", f"keys.expert {task}"]
        shape = (len(self.expert_layers), 2, self.expert_length, width)
        state[own[0]] = first_values(self.seed, f"DualPrompt expert {task}", *shape)
        state[own[1]] = first_values(self.seed, f"DualPrompt key {task}", width)
        return ["prompts.general", *own]

    def _prompts(self, prompts: Mapping[str, Tensor], queries: Tensor, task: int | None) -> tuple[Prompts, Tensor]:
        directions = F.normalize(queries, dim=1)  # (n, d)
        if task is None:
            n_tasks = sum(name.startswith("keys.") for name in prompts)
            keys = torch.stack([prompts[f"keys.expert {number}"] for number in range(n_tasks)])
            nearest = (directions @ F.normalize(keys, dim=1).mT).argmax(1)  # (n,)
            experts = torch.stack([prompts[f"prompts.expert {number}"] for number in range(n_tasks)])[nearest]
            pull = queries.new_zeros(())
        else:
            experts = prompts[f"prompts.expert {task}"][None]
            pull = -self.pull * (directions @ F.normalize(prompts[f"keys.expert {task}"], dim=0)).sum()
        general = prompts["prompts.general"]
        prefixes = {layer: (general[None, i, 0], general[None, i, 1]) for i, layer in enumerate(self.general_layers)}
        prefixes |= {layer: (experts[:, i, 0], experts[:, i, 1]) for i, layer in enumerate(self.expert_layers)}
        return Prompts(prefixes=prefixes), pull
