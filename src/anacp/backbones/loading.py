"""`backbone`: a frozen pretrained network by name."""

from torch import nn

from anacp.backbones.backbone import Backbone
from anacp.backbones.efficientnet import load_efficientnet_lite
from anacp.backbones.engines import EngineName, check_engine
from anacp.backbones.huggingface import PREFIX, load_hub, load_transformers
from anacp.backbones.inputs import ImageReader, Reader
from anacp.backbones.moco import load_moco
from anacp.backbones.preprocessing import ImagePreprocessing
from anacp.backbones.presets import Preset
from anacp.backbones.presets import preset as find_preset

__all__ = ["backbone"]


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
    load = load_moco if preset.architecture == "mocov3" else load_efficientnet_lite
    return load(preset), ImageReader(preset.preprocessing)
