"""What L2P, DualPrompt and CODA-Prompt share: a frozen network, prompts chosen by a query, and a head."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from anacp.adaptation import Group, cross_entropy
from anacp.errors import ParameterError
from anacp.methods.trained.base import TrainedMethod
from anacp.methods.trained.head import OpenRows, scores_of
from anacp.methods.trained.prompted_network import PromptedNetwork, Prompts
from anacp.methods.trained.task import Stage, State, TaskExamples, outputs_of
from anacp.randomness import generator

LARGEST = 0.01  # of the numbers with which L2P and DualPrompt begin


class PromptMethod(TrainedMethod):
    """A method that learns prompts. The query of an item is its features from the frozen backbone without prompts."""

    rate_is_for: ClassVar[int | None] = None  # rows a step; `rate` is scaled with `batch_size` if it is for some number
    read_prompts: bool = False
    layers: tuple[int, ...] = ()  # the blocks that take prefixes

    @abstractmethod
    def _grow(self, state: State, task: int) -> list[str]:
        """Add what a new task brings, and return the names of all prompts and keys that this task trains."""

    @abstractmethod
    def _prompts(self, prompts: Mapping[str, Tensor], queries: Tensor, task: int | None) -> tuple[Prompts, Tensor]:
        """Return the prompts of some queries, and their loss apart from the cross-entropy, summed.

        `task` is known in training, None when predicting.
        """

    @property
    def _step_rate(self) -> float:
        """The learning rate of prompts and head."""
        return self.rate if self.rate_is_for is None else self.rate * self.batch_size / self.rate_is_for

    @cached_property
    def _network(self) -> PromptedNetwork:
        backbone = self.backbone
        network = PromptedNetwork(backbone.module(), backbone.preset.pooling, read_prompts=self.read_prompts)
        if self.layers and max(self.layers) >= network.n_blocks:
            raise ParameterError(
                f"Expected a network of more than {max(self.layers)} blocks, got {network.n_blocks}. "
                "Choose prompt layers that it has."
            )
        return network.to(backbone.device)

    def _queries(self, items: Sequence[Any]) -> Tensor:
        return torch.from_numpy(self.backbone.encode(items)).to(self.backbone.device)

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        network, device = self._network, self.backbone.device
        names = self._grow(state, task.index)
        moving = {name: state[name].to(device).requires_grad_(True) for name in names}
        still = {name: tensor.to(device) for name, tensor in state.items() if name not in moving}
        head = OpenRows(state, task.present, device)
        queries, targets = self._queries(task.items), task.targets.to(device)

        def loss(rows: list[int], inputs: tuple[Tensor, ...]) -> tuple[Tensor, int]:
            prompts, pull = self._prompts(still | moving, queries[rows], task.index)
            entropy, right = cross_entropy(head(network(prompts, *inputs)), targets[rows])
            return entropy + pull, right

        yield Stage("prompts", [Group(moving | head.parameters, self._step_rate)], loss, self.plan)
        state |= {name: parameter.detach().cpu() for name, parameter in moving.items()}
        head.close()

    def _scores(self, items: Sequence[Any], state: State) -> Tensor:
        queries = self._queries(items)
        kept = {name: tensor.to(self.backbone.device) for name, tensor in state.items()}

        def forward(rows: list[int], inputs: tuple[Tensor, ...]) -> Tensor:
            prompts, _ = self._prompts(kept, queries[rows], None)
            return scores_of(kept, self._network(prompts, *inputs))

        return outputs_of(self.backbone, items, len(state["head.bias"]), forward)


def first_values(seed: int, role: str, *shape: int) -> Tensor:
    """Draw small positive numbers, by name, as L2P and DualPrompt begin."""
    return torch.empty(shape).uniform_(0, LARGEST, generator=generator(seed, role))
