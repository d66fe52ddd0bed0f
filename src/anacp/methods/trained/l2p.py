"""L2P: prompts from one shared pool, chosen by their keys (Wang et al. 2022)."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.adaptation import OptimiserPlan
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.errors import ParameterError
from anacp.methods.trained.prompt_method import PromptMethod, first_values
from anacp.methods.trained.prompted_network import Prompts
from anacp.methods.trained.task import State, sized


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(takes="items", settings={"minilm": {"read": "tokens", "rate": 0.1, "epochs": 2, "batch_size": 32}}, page="l2p")
class L2P(PromptMethod):
    """Learning to prompt: the prompts nearest to an item's query stand before its tokens.

    All tasks share the pool and go on training it; nothing but the choice by key keeps earlier tasks' prompts as they
    were.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    n_prompts, length, n_chosen : int, default=10, 5, 5
        Size of the pool, tokens a prompt, prompts an item.
    pull : float, default=0.1
        Weight of the term that draws the chosen keys to the query.
    read : {"prompts", "tokens"}, default="prompts"
        What the head sees: the mean over the prompt tokens as published, or the backbone's own pooling.
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
        n_prompts: int = 10,
        length: int = 5,
        n_chosen: int = 5,
        pull: float = 0.1,
        read: Literal["prompts", "tokens"] = "prompts",
        rate: float = 0.03,
        epochs: int = 5,
        batch_size: int = 128,
        clip: float = 1.0,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        self.n_prompts, self.length, self.n_chosen, self.pull, self.read = n_prompts, length, n_chosen, pull, read
        self.clip, self.read_prompts = clip, read == "prompts"
        self.plan = OptimiserPlan(epochs, batch_size, "adam", clip=clip)
        if not 1 <= n_chosen <= n_prompts or length < 1:
            raise ParameterError(
                f"Expected n_chosen between 1 and n_prompts and a length of at least 1, got {n_chosen} of {n_prompts} "
                f"prompts of length {length}."
            )
        if read not in ("prompts", "tokens"):
            raise ParameterError(f"Expected read to be one of prompts, tokens, got {read!r}. Choose one.")

    def _outlines(self, n_classes: int, n_tasks: int) -> State:
        width = self.backbone.n_features
        prompts, keys = sized(self.n_prompts, self.length, width), sized(self.n_prompts, width)
        return super()._outlines(n_classes, n_tasks) | {"prompts.pool": prompts, "keys.pool": keys}

    def _grow(self, state: State, task: int) -> list[str]:
        if task == 0:
            width = self.backbone.n_features
            state["prompts.pool"] = first_values(self.seed, "L2P prompts", self.n_prompts, self.length, width)
            state["keys.pool"] = first_values(self.seed, "L2P keys", self.n_prompts, width)
        return ["prompts.pool", "keys.pool"]

    def _prompts(self, prompts: Mapping[str, Tensor], queries: Tensor, task: int | None) -> tuple[Prompts, Tensor]:
        similarity = F.normalize(queries, dim=1) @ F.normalize(prompts["keys.pool"], dim=1).mT  # (n, n_prompts)
        chosen = torch.topk(similarity, self.n_chosen, dim=1)
        tokens = prompts["prompts.pool"][chosen.indices].flatten(1, 2)  # (n, n_chosen · length, d)
        return Prompts(tokens), -self.pull * chosen.values.sum()
