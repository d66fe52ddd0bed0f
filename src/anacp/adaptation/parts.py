"""The parts that are trained while all else is frozen: adapters or LoRA, in one form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from anacp.adaptation.adapters import insert_adapters
from anacp.adaptation.lora import insert_lora
from anacp.adaptation.recipes import Recipe
from anacp.errors import ModelFileError
from anacp.randomness import generator

__all__ = ["Parts", "uniform"]


@dataclass(frozen=True, eq=False)
class Parts:
    """Trainable parts inside a network. The network itself no longer takes gradients."""

    parameters: dict[str, Tensor]  # `down` and `up` of every place, from its place in the network
    finished: Callable[[], nn.Module]  # the network as it will run; the parts take no gradients any more

    @classmethod
    def inside(cls, network: nn.Module, recipe: Recipe, seed: int) -> "Parts":
        """Insert the recipe's parts: `down` drawn from (seed, place), `up` 0, so that nothing changes at first."""
        network.requires_grad_(False)
        if recipe.parts == "adapters":
            parameters = insert_adapters(network, recipe.rank)

            def merged() -> nn.Module:
                return network
        else:
            parameters, merged = insert_lora(network, recipe.rank, everywhere=recipe.parts == "lora-everywhere")
        for name, parameter in parameters.items():
            down = uniform(parameter, parameter.shape[1], seed, f"adaptation {name}")
            with torch.no_grad():
                parameter.copy_(down if name.endswith("down") else torch.zeros_like(down))
            parameter.requires_grad_(True)

        def finished() -> nn.Module:
            return merged().requires_grad_(False)

        return cls(parameters, finished)

    def tensors(self) -> dict[str, Tensor]:
        """Return a copy of the weights."""
        return {name: parameter.detach().cpu().clone() for name, parameter in self.parameters.items()}

    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over weights, or refuse those of another network."""
        expected = {name: tuple(parameter.shape) for name, parameter in self.parameters.items()}
        got = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        if expected != got:
            differing = sorted(name for name in expected.keys() | got.keys() if expected.get(name) != got.get(name))
            raise ModelFileError(
                f"Expected the weights of {len(expected)} matrices, got others for {', '.join(differing[:3])}. "
                "Adapt the backbone again."
            )
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(tensors[name])


def uniform(like: Tensor, n_inputs: int, seed: int, role: str) -> Tensor:
    """Draw weights as torch's linear layers do, between ±1/√inputs, by name and on the CPU."""
    bound = n_inputs**-0.5
    return torch.empty(like.shape).uniform_(-bound, bound, generator=generator(seed, role))
