"""Small real transformers with random weights, and examples that they can learn."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

from anacp.adaptation import Recipe
from anacp.backbones import Backbone, backbone

TINY = Recipe("tiny", head_rate=2e-2, parts_rate=1e-2, epochs=5, batch_size=8)
TINY_EVERYWHERE = Recipe("everywhere", 2e-2, 1e-2, "lora-everywhere", 2, "adamw", epochs=5, batch_size=8)
TINY_LORA = Recipe("tiny-lora", 2e-2, 1e-2, "lora", 2, "adamw", epochs=5, batch_size=8, final_rate=0.1)
KINDS = ["vit", "dinov2", "dinov2-swiglu", "bert"]
WORDS = ("red", "green", "blue", "the", "a", "very", "house", "tree", "car")


def tiny(kind: str, folder: Path, engine: str = "torch") -> Backbone:
    """A transformer of two blocks; equal calls give equal weights."""
    import transformers

    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "initializer_range": 0.3}
    folder = folder / kind
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if kind == "bert":
            folder.mkdir(exist_ok=True)
            words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
            (folder / "vocab.txt").write_text("\n".join(words))
            transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=16).save_pretrained(folder)
            sizes |= {"vocab_size": len(words), "intermediate_size": 48, "max_position_embeddings": 16}
            network = transformers.BertModel(transformers.BertConfig(**sizes), add_pooling_layer=False)
        elif kind == "vit":
            config = transformers.ViTConfig(**sizes, intermediate_size=48, image_size=16, patch_size=8)
            network = transformers.ViTModel(config, add_pooling_layer=False)
        else:
            swiglu = kind.endswith("swiglu")
            config = transformers.Dinov2Config(**sizes, image_size=16, patch_size=8, use_swiglu_ffn=swiglu)
            network = transformers.Dinov2Model(config)
    network.save_pretrained(folder)
    return backbone(f"hf:{folder}", engine=engine)


def bytes_of(network: nn.Module) -> list[bytes]:
    """All weights, to compare to the bit."""
    return [tensor.numpy().tobytes() for tensor in network.state_dict().values()]


def examples(modality: str, n: int = 42, seed: int = 0) -> tuple[list, np.ndarray]:
    """Three classes of noisy colours, or of sentences with one telling word."""
    generator = np.random.default_rng(seed)
    codes = generator.permutation(np.arange(n) % 3)
    items: list = []
    for code in codes:
        if modality == "text":
            filler = [WORDS[number] for number in generator.integers(3, len(WORDS), generator.integers(2, 6))]
            items.append(" ".join([*filler[:1], WORDS[code], *filler[1:]]))
        else:
            pixels = generator.integers(0, 160, (16, 16, 3))
            pixels[..., code] += 40
            items.append(Image.fromarray(pixels.astype(np.uint8)))
    return items, np.array(WORDS[:3])[codes]
