"""Which data it was: one hash over all items, so that features are found again however the files were moved."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from anacp.backbones import OnDemand
from anacp.backbones.presets import Modality
from anacp.errors import AnacpError, InputError

__all__ = ["common_folder", "item_digests", "item_name"]

CHUNK = 256


def common_folder(items: Sequence[Any]) -> Path | None:
    """Return the folder that all files share; None if the items are no files."""
    folders = {os.path.dirname(os.path.abspath(item)) for item in items if isinstance(item, str | Path)}
    try:
        return Path(os.path.commonpath(folders)) if folders else None
    except ValueError:  # files on different drives
        return None


def item_name(item: Any, root: Path | None) -> str:
    """Return what an item is called in a card: its path below the common folder, or what kind of image it is."""
    if isinstance(item, str | Path):
        return Path(os.path.relpath(os.path.abspath(item), root)).as_posix() if root else str(item)
    if isinstance(item, OnDemand):
        return item.name
    return f"image {item.mode} {item.width}x{item.height}"


def item_digests(items: Sequence[Any], modality: Modality, root: Path | None) -> Iterator[bytes]:
    """Yield a hash per item: of the text; of a file's relative name, size and content; of an image's pixels."""
    if modality == "text":
        for position, item in enumerate(items):
            if not isinstance(item, str):
                raise InputError(
                    f"Expected texts, got {type(item).__name__} at position {position}. Convert it to a string."
                )
            yield _digest(b"text", item.encode(errors="surrogatepass"))
        return
    with ThreadPoolExecutor(4) as pool:  # hashing and reading release the interpreter
        for start in range(0, len(items), CHUNK):
            yield from pool.map(lambda item: _image_digest(item, root), items[start : start + CHUNK])


def _image_digest(item: Any, root: Path | None) -> bytes:
    name = item_name(item, root).encode()
    if isinstance(item, OnDemand):
        try:
            return _digest(b"on demand", name, item.digest().encode())
        except (OSError, AnacpError) as problem:
            return _digest(b"unreadable", name, type(problem).__name__.encode())
    if not isinstance(item, str | Path):
        return _digest(b"image", name, item.tobytes(), repr(item.getpalette()).encode())
    try:
        with open(item, "rb") as file:
            content = hashlib.file_digest(file, "blake2b").digest()
        return _digest(b"file", name, str(os.path.getsize(item)).encode(), content)
    except OSError as problem:  # refused or skipped later; a file that appears is other data
        return _digest(b"unreadable", name, type(problem).__name__.encode())


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
