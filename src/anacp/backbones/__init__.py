"""Images or texts → features, by a frozen pretrained network."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.backbones.engines import EngineName
    from anacp.backbones.exported import ExportedBackbone, exported_backbone
    from anacp.backbones.frozen import Backbone
    from anacp.backbones.graph import write_graph
    from anacp.backbones.inputs import Arrays, digests, read_ahead
    from anacp.backbones.layers import usual_layers
    from anacp.backbones.loading import backbone, known_backbone
    from anacp.backbones.network import PooledNetwork, blocks_of
    from anacp.backbones.preprocessing import ImagePreprocessing, TextPreprocessing
    from anacp.backbones.presets import PRESETS, Pooling, Preset, preset
    from anacp.backbones.views import LAST_LAYER, PATCHES, Layer, Layers, LayerView

__all__ = [
    "LAST_LAYER",
    "PATCHES",
    "PRESETS",
    "Arrays",
    "Backbone",
    "EngineName",
    "ExportedBackbone",
    "ImagePreprocessing",
    "Layer",
    "LayerView",
    "Layers",
    "PooledNetwork",
    "Pooling",
    "Preset",
    "TextPreprocessing",
    "backbone",
    "blocks_of",
    "digests",
    "exported_backbone",
    "known_backbone",
    "preset",
    "read_ahead",
    "usual_layers",
    "write_graph",
]

__getattr__ = door(__name__)
