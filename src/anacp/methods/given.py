"""Examples as they are given: inputs, labels, and a hash of each input's content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.backbones import OnDemand
from anacp.datasets import ImageFile
from anacp.errors import AnacpError, InputError
from anacp.learners.inputs import Labels, label_kind

__all__ = ["Digests", "Given", "as_items", "given"]

Digests = NDArray[np.int64]


@dataclass(frozen=True)
class Given:
    """Inputs, labels and digests, row by row."""

    items: list[Any]
    labels: Labels  # (n,)
    digests: Digests  # (n,)

    def __len__(self) -> int:
        return len(self.items)

    def take(self, rows: NDArray[np.intp]) -> Given:
        """Return some rows."""
        return Given([self.items[row] for row in rows], self.labels[rows], self.digests[rows])

    def distinct(self) -> Given:
        """Return the first of each (label, content), in order."""
        if not len(self):
            return self
        codes = np.unique(self.labels, return_inverse=True)[1]
        return self.take(np.sort(np.unique(np.stack([codes, self.digests]), axis=1, return_index=True)[1]))


def given(inputs: Sequence[Any], labels: ArrayLike, modality: str) -> Given:
    """Return examples with their digests, or say what is wrong with them."""
    items = as_items(inputs)
    array = np.asarray(labels)
    if array.shape != (len(items),):
        raise InputError(f"Expected one label for each of the {len(items)} inputs, got labels of shape {array.shape}.")
    if isinstance(labels, list | tuple) and len({label_kind(np.asarray(label)) for label in labels}) > 1:
        raise InputError("Expected labels of one kind, got a mixture. Convert them to one kind first.")
    return Given(items, array, _digests(items, modality))


def as_items(inputs: Sequence[Any]) -> list[Any]:
    """Return the inputs as a list; an image that is a file is its path, so that messages name it in full."""
    if isinstance(inputs, str | Path) or not hasattr(inputs, "__len__"):
        raise InputError("Expected a list of inputs, got a single one. Put it into a list.")
    return [item.path if isinstance(item, ImageFile) else item for item in inputs]


def _digests(items: Sequence[Any], modality: str) -> Digests:
    """Return a hash of each item's content: of a text, of an encoded file wherever it lies, of an image's pixels."""
    if modality == "text":
        hashes = [_hash(str(item).encode(errors="surrogatepass")) for item in items]
    else:
        with ThreadPoolExecutor(4) as pool:  # reading and hashing release the interpreter
            hashes = list(pool.map(_image_hash, items))
    return np.frombuffer(b"".join(hashes), np.int64) if hashes else np.empty(0, np.int64)


def _image_hash(item: Any) -> bytes:
    try:
        if isinstance(item, str | Path):
            return _hash(Path(item).read_bytes())
        if isinstance(item, OnDemand):
            return bytes.fromhex(item.digest())[:8]
        return _hash(f"{item.mode} {item.size} {item.getpalette()}".encode(), item.tobytes())
    except (OSError, AnacpError):  # refused or skipped when it is opened: never remembered under this name
        return _hash(b"unreadable", str(getattr(item, "name", item)).encode())


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)  # as the images of `anacp.datasets` do: packed and unpacked are equal
    for part in parts:
        digest.update(part)
    return digest.digest()[:8]
