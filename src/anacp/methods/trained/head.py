"""The linear head, and the rows of it that a task may change."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.adaptation import uniform
from anacp.methods.trained.task import State

HEAD = ("head.weight", "head.bias")


def grow_head(state: State, n_classes: int, n_features: int, seed: int) -> None:
    """Append rows for the classes that are new, drawn as torch's linear layers are, each by its place."""
    weight, bias = state.get(HEAD[0], torch.empty(0, n_features)), state.get(HEAD[1], torch.empty(0))
    rows, biases = [weight], [bias]
    for place in range(len(weight), n_classes):
        rows.append(uniform((1, n_features), n_features, seed, f"head {place}"))
        biases.append(uniform((1,), n_features, seed, f"head {place} bias"))
    state[HEAD[0]], state[HEAD[1]] = torch.cat(rows), torch.cat(biases)


def scores_of(state: State, features: Tensor) -> Tensor:
    """Return the scores of all classes."""  # (n, d) -> (n, c)
    return F.linear(features, *(state[name].to(features.device) for name in HEAD))


class OpenRows:
    """Rows of the head while they are trained.

    The others take no part, so that neither gradients nor weight decay reach them: this is how the logits of earlier
    tasks are masked.
    """

    def __init__(self, state: State, rows: Tensor, device: str) -> None:
        self._state, self._rows = state, rows
        self.parameters = {name: state[name][rows].to(device).requires_grad_(True) for name in HEAD}

    def __call__(self, features: Tensor) -> Tensor:
        """Return the scores of the open classes."""
        return F.linear(features, *self.parameters.values())

    def close(self) -> None:
        """Put the rows back."""
        for name, parameter in self.parameters.items():
            self._state[name][self._rows] = parameter.detach().cpu()
