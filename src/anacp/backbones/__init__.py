"""Images or texts → features, by a frozen pretrained network."""

from anacp.backbones.backbone import Backbone, Batch
from anacp.backbones.images import OnDemand, check_header, open_image
from anacp.backbones.loading import backbone
from anacp.backbones.preprocessing import ImagePreprocessing, OwnImageProcessor, TextPreprocessing
from anacp.backbones.presets import PRESETS, Preset, preset

__all__ = [
    "PRESETS",
    "Backbone",
    "Batch",
    "ImagePreprocessing",
    "OnDemand",
    "OwnImageProcessor",
    "Preset",
    "TextPreprocessing",
    "backbone",
    "check_header",
    "open_image",
    "preset",
]
