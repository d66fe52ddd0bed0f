"""What SLCA, sequential and joint fine-tuning share: a network whose own weights, or parts inside it, are trained."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from anacp.adaptation import Group, cross_entropy
from anacp.backbones import PooledNetwork
from anacp.methods.trained.base import TrainedMethod
from anacp.methods.trained.head import OpenRows, scores_of
from anacp.methods.trained.task import Stage, State, TaskExamples, outputs_of, sized


class TunedNetwork(TrainedMethod):
    """A method that fine-tunes: by default all weights of the network."""

    head_rate: float

    def _trainable(self, network: nn.Module) -> dict[str, Tensor]:
        """Return by name what is trained of a network, or put into it."""
        return dict(network.requires_grad_(True).named_parameters())

    def _tuned(self, state: State) -> tuple[PooledNetwork, dict[str, Tensor]]:
        """Return the network as the last task left it, and its trainable parameters under the names of the state."""
        network = self.backbone.module()
        parameters = {f"network.{name}": parameter for name, parameter in self._trainable(network).items()}
        with torch.no_grad():
            for name in parameters.keys() & state.keys():
                parameters[name].copy_(state[name])
        return PooledNetwork(network, self.backbone.preset.pooling).to(self.backbone.device).eval(), parameters

    def _outlines(self, n_classes: int, n_tasks: int) -> State:
        _, parameters = self._tuned({})
        return super()._outlines(n_classes, n_tasks) | {name: sized(*one.shape) for name, one in parameters.items()}

    def _fine_tuning(
        self, task: TaskExamples, state: State, open_classes: Tensor, portion: float = 1.0
    ) -> Generator[Stage, None, PooledNetwork]:
        """Train network and head on cross-entropy among some classes; the generator's value is the network."""
        network, parameters = self._tuned(state)
        head = OpenRows(state, open_classes, self.backbone.device)
        targets = torch.searchsorted(open_classes, task.codes).to(self.backbone.device)

        def loss(rows: list[int], inputs: tuple[Tensor, ...]) -> tuple[Tensor, int]:
            return cross_entropy(head(network(*inputs)), targets[rows])

        groups = [Group(head.parameters, self.head_rate), Group(parameters, self.rate)]
        yield Stage("fine-tuning", groups, loss, self.plan, portion)
        head.close()
        state |= {name: parameter.detach().cpu().clone() for name, parameter in parameters.items()}
        return network

    def _features(self, network: PooledNetwork, items: Sequence[Any]) -> Tensor:
        return outputs_of(self.backbone, items, self.backbone.n_features, lambda _, inputs: network(*inputs))

    def _scores(self, items: Sequence[Any], state: State) -> Tensor:
        network, _ = self._tuned(state)
        return scores_of(state, self._features(network, items))
