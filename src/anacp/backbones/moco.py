"""MoCo-v3's public checkpoint as a transformers ViT."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from anacp.backbones.huggingface import load_quietly
from anacp.backbones.presets import Preset
from anacp.backbones.sources import find_moco, weights_folder
from anacp.errors import ModelFileError, UnavailableError

N_HEADS = 12  # not to be read from the weights; all of MoCo-v3's published ViT-S and ViT-B have 12
PREFIXES = ("module.base_encoder.", "base_encoder.", "module.", "")

# timm's names and, for each, the names that transformers has always accepted in checkpoints.
NAMES = {
    "cls_token": "embeddings.cls_token",
    "pos_embed": "embeddings.position_embeddings",
    "patch_embed.proj": "embeddings.patch_embeddings.projection",
    "norm": "layernorm",
}
BLOCK_NAMES = {
    "norm1": "layernorm_before",
    "norm2": "layernorm_after",
    "attn.proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}


def load_moco(preset: Preset) -> nn.Module:
    """Return the ViT from the checkpoint in the weights folder, under any of its public names."""
    found = find_moco(preset)
    if not found:
        raise UnavailableError(
            f"Backbone {preset.name!r} needs a checkpoint that is not at {weights_folder() / preset.name}.pth: "
            f"download {preset.source} and put it there (licence {preset.licence})."
        )
    return vit_from_checkpoint(found[0])


def vit_from_checkpoint(path: Path) -> nn.Module:
    """Return a ViT with the checkpoint's weights; its sizes are read from them."""
    from transformers import ViTConfig, ViTModel

    state = _encoder(torch.load(path, map_location="cpu", weights_only=True), path)
    width, _, patch, _ = state["patch_embed.proj.weight"].shape
    config = ViTConfig(
        hidden_size=width,
        num_hidden_layers=len({name.split(".")[1] for name in state if name.startswith("blocks.")}),
        num_attention_heads=N_HEADS,
        intermediate_size=len(state["blocks.0.mlp.fc1.bias"]),
        image_size=patch * round((state["pos_embed"].shape[1] - 1) ** 0.5),
        patch_size=patch,
        layer_norm_eps=1e-6,
        qkv_bias="blocks.0.attn.qkv.bias" in state,
    )
    network: nn.Module = load_quietly(ViTModel, None, config=config, state_dict=convert(state), add_pooling_layer=False)
    return network


def convert(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename timm's ViT parameters to transformers' and split each fused qkv into its three parts."""
    converted: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if not name.startswith("blocks."):
            stem, dot, kind = (name, "", "") if name in NAMES else name.rpartition(".")
            converted[f"{NAMES[stem]}{dot}{kind}"] = tensor
            continue
        _, number, rest = name.split(".", 2)
        stem, _, kind = rest.rpartition(".")
        block = f"encoder.layer.{number}"
        if stem == "attn.qkv":
            for part, piece in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                converted[f"{block}.attention.attention.{part}.{kind}"] = piece.clone()
        else:
            converted[f"{block}.{BLOCK_NAMES[stem]}.{kind}"] = tensor
    return converted


def _encoder(checkpoint: Mapping[str, Any], path: Path) -> dict[str, Tensor]:
    """Find the encoder in either public layout, without its projection head and without the momentum encoder."""
    state: Mapping[str, Any] = checkpoint
    for key in ("state_dict", "model"):
        if isinstance(checkpoint.get(key), Mapping):
            state = checkpoint[key]
            break
    for prefix in PREFIXES:
        if f"{prefix}patch_embed.proj.weight" in state:
            inner = {name[len(prefix) :]: tensor for name, tensor in state.items() if name.startswith(prefix)}
            stems = (*NAMES, "blocks")
            return {name: inner[name] for name in inner if any(f"{name}.".startswith(f"{stem}.") for stem in stems)}
    raise ModelFileError(
        f"Expected a MoCo-v3 checkpoint with `patch_embed.proj.weight` under 'state_dict' or 'model', got keys such as "
        f"{sorted(map(str, state))[:3]}: {path}. Download the public ViT-B checkpoint again."
    )
