"""WebDataset archives: files of one example have one name up to its first dot, one of them says the class.

The format is a plain tar: `0001.jpg` and `0001.cls`, or `0001.txt` and `0001.cls` for texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from anacp.datasets.dataset import Labelled, LeftOut
from anacp.datasets.encodings import decoded
from anacp.datasets.folder import IMAGE_SUFFIXES
from anacp.datasets.trees import Tree
from anacp.errors import DataFileError, InputError
from anacp.items import EncodedImage, OnError
from anacp.labels import label_array
from anacp.words import SKIPPING, counted

LABEL, TEXT = ".cls", ".txt"


def is_webdataset(tree: Tree) -> bool:
    """Say whether an archive is of this format: some file in it says a class."""
    return tree.path.is_file() and any(name.endswith(LABEL) for name in tree.names)


def read_webdataset(tree: Tree, label: str | None = None, on_error: OnError = "refuse") -> Labelled:
    """Return the examples of an archive: pictures, or texts where there are none. Classes are texts."""
    samples: dict[str, dict[str, EncodedImage]] = {}
    for name in tree.names:
        folder, slash, own = name.rpartition("/")
        key, _, ending = own.partition(".")
        samples.setdefault(f"{folder}{slash}{key}", {})[f".{ending.lower()}"] = tree.file(name)
    has_pictures = any(ending in IMAGE_SUFFIXES for parts in samples.values() for ending in parts)
    modality: Literal["image", "text"] = "image" if has_pictures else "text"
    items: list[Any] = []
    labels: list[str] = []
    left_out: list[LeftOut] = []
    for key, parts in sorted(samples.items()):
        place = f"{key} in {tree.path}"
        stated = label or _text(parts, LABEL, place).strip()
        item = _item(parts, modality, place)
        if item is None or not stated:
            left_out.append(LeftOut(place, "no class" if item is not None else f"no {modality}"))
        else:
            items.append(item)
            labels.append(stated)
    if left_out and on_error == "refuse":
        raise DataFileError(
            f"Expected {'a picture' if has_pictures else 'a text'} and a class for each example in {tree.path}, got "
            f"{counted(len(left_out), 'example')} without: {left_out[0].place} ({left_out[0].reason}). Leave them out: "
            f"{SKIPPING}."
        )
    if not items:
        raise InputError(f"Expected examples in {tree.path}, got none of {len(samples)} with a class.")
    return Labelled(items, label_array(labels), modality, tuple(left_out))


def _item(parts: Mapping[str, EncodedImage], modality: str, place: str) -> EncodedImage | str | None:
    if modality == "image":
        return next((file for ending, file in sorted(parts.items()) if ending in IMAGE_SUFFIXES), None)
    text = _text(parts, TEXT, place)
    return text if text.strip() else None


def _text(parts: Mapping[str, EncodedImage], ending: str, place: str) -> str:
    return decoded(parts[ending].read(), place)[0] if ending in parts else ""
