"""The parts that are trained while all else is frozen: adapters or LoRA, in one form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from anacp.adaptation.adapters import insert_adapters
from anacp.adaptation.plan import Recipe
from anacp.backbones import blocks_of
from anacp.errors import MismatchError, ModelFileError, ParameterError
from anacp.extras import require
from anacp.randomness import generator

QUERIES_AND_VALUES = ("query", "value", "q_proj", "v_proj", "q_lin", "v_lin")  # BERT; ViT, DINO-v2, CLIP; DistilBERT


@dataclass(frozen=True, eq=False)
class Parts:
    """Trainable parts inside a network. The network itself no longer takes gradients."""

    parameters: dict[str, Tensor]  # `down` and `up` of every place, from its place in the network
    finished: Callable[[], nn.Module]  # the network as it will run; the parts take no gradients any more

    @classmethod
    def inside(cls, network: nn.Module, recipe: Recipe, seed: int) -> "Parts":
        """Insert the recipe's parts: `down` drawn from (seed, place), `up` 0, so that nothing changes at first."""
        network.requires_grad_(False)
        widest = max((max(one.weight.shape) for one in network.modules() if isinstance(one, nn.Linear)), default=0)
        if recipe.rank > widest > 0:
            raise ParameterError(f"Expected a rank of at most {widest}, the widest layer, got {recipe.rank}.")
        merged: Callable[[], nn.Module]
        if recipe.parts == "adapters":
            parameters, merged = insert_adapters(network, recipe.rank), lambda: network
        else:
            parameters, merged = _insert_lora(network, recipe.rank, everywhere=recipe.parts == "lora-everywhere")
        for name, parameter in parameters.items():
            down = uniform(parameter.shape, parameter.shape[1], seed, f"adaptation {name}")
            with torch.no_grad():
                parameter.copy_(down if name.endswith("down") else torch.zeros_like(down))
            parameter.requires_grad_(True)
        return cls(parameters, lambda: merged().requires_grad_(False))

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


def uniform(shape: Sequence[int], n_inputs: int, seed: int, role: str) -> Tensor:
    """Draw weights as torch's linear layers do, between ±1/√inputs, by name and on the CPU."""
    bound = n_inputs**-0.5
    return torch.empty(tuple(shape)).uniform_(-bound, bound, generator=generator(seed, role))


def _insert_lora(
    network: nn.Module, rank: int, *, everywhere: bool
) -> tuple[dict[str, Tensor], Callable[[], nn.Module]]:
    """Put LoRA of scale 1 on every query and value projection, or on every linear layer of every block.

    Returns its weights by name, and what merges them into the projections and returns the network in its usual form.
    """
    peft: Any = require("peft", extra="adaptation", purpose="LoRA")
    linear = {name: module for name, module in network.named_modules() if isinstance(module, nn.Linear)}
    targets = [name for name in linear if name.rpartition(".")[2] in QUERIES_AND_VALUES]
    if not targets:
        raise MismatchError(
            f"Expected a transformer with query and value projections, got {type(network).__name__}. "
            "Choose a transformer such as ViT, DINO-v2 or BERT."
        )
    if everywhere:
        inside = {module for block in blocks_of(network) for module in block.modules()}
        targets = [name for name, module in linear.items() if module in inside]
    with torch.random.fork_rng(devices=[]):  # peft draws from the global random state; the caller draws anew
        wrapped: Any = peft.get_peft_model(
            network, peft.LoraConfig(r=rank, lora_alpha=rank, target_modules=targets, lora_dropout=0.0)
        )
    parameters: dict[str, Tensor] = {}
    layers: list[Any] = [module for module in network.modules() if isinstance(module, peft.tuners.lora.LoraLayer)]
    for number, layer in enumerate(layers):
        for name, matrices in (("down", layer.lora_A), ("up", layer.lora_B)):
            (matrix,) = matrices.values()
            parameters[f"{number}.{name}"] = matrix.weight
    return parameters, wrapped.merge_and_unload
