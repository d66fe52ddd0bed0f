"""LoRA on query and value, or on every linear layer of the blocks, by peft."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from anacp.backbones.network import blocks_of
from anacp.errors import MismatchError, UnavailableError

__all__ = ["insert_lora"]

QUERIES_AND_VALUES = ("query", "value", "q_proj", "v_proj", "q_lin", "v_lin")  # BERT; ViT, DINO-v2, CLIP; DistilBERT


def insert_lora(
    network: nn.Module, rank: int, *, everywhere: bool
) -> tuple[dict[str, Tensor], Callable[[], nn.Module]]:
    """Put LoRA of scale 1 on every query and value projection, or on every linear layer of every block.

    Returns its weights by name, and what merges them into the projections and returns the network in its usual form.
    """
    try:
        import peft
    except ImportError as problem:
        raise UnavailableError(
            f"LoRA needs the package 'peft', which is not installed ({problem}). "
            "Install it with `pip install 'anacp[adaptation]'`."
        ) from problem
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
