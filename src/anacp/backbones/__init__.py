"""Images or texts → features, by a frozen pretrained network."""

from anacp.backbones.engines import EngineName
from anacp.backbones.frozen import Backbone
from anacp.backbones.inputs import Arrays, digests, read_ahead
from anacp.backbones.loading import backbone, known_backbone
from anacp.backbones.network import LAST_LAYER, PooledNetwork, blocks_of
from anacp.backbones.preprocessing import ImagePreprocessing, TextPreprocessing
from anacp.backbones.presets import PRESETS, Pooling, Preset, preset

__all__ = [
    "LAST_LAYER",
    "PRESETS",
    "Arrays",
    "Backbone",
    "EngineName",
    "ImagePreprocessing",
    "PooledNetwork",
    "Pooling",
    "Preset",
    "TextPreprocessing",
    "backbone",
    "blocks_of",
    "digests",
    "known_backbone",
    "preset",
    "read_ahead",
]
