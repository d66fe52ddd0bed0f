"""The feature store: extracted once, found again by what went in."""

import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from anacp.atomic import replacing
from anacp.errors import FeatureStoreError
from anacp.features.card import Card, Shard, Skipped
from anacp.home import home

__all__ = ["Entry", "FeatureStore"]

CARD = "card.json"


class FeatureStore:
    """A folder of extractions, each named by a hash of the backbone and the data.

    Parameters
    ----------
    root : Path, optional
        Where it is kept; ANACP_HOME/features by default.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = Path(root) if root is not None else home() / "features"

    def entry(self, fingerprint: str, digests: Iterable[bytes]) -> "Entry":
        """Return the place of one backbone's features of one sequence of items, filled or not."""
        key = hashlib.blake2b(fingerprint.encode() + b"\0", digest_size=16)
        for digest in digests:
            key.update(digest)
        return Entry(self.root / key.hexdigest())

    def entries(self) -> "list[Entry]":
        """Return what is stored, in order of keys."""
        if not self.root.is_dir():
            return []
        return [Entry(path) for path in sorted(self.root.iterdir()) if path.is_dir() and path.name[0] != "."]


class Entry:
    """One extraction: a folder with a card and safetensors shards of rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def key(self) -> str:
        """The hash of backbone and data that names the entry."""
        return self.folder.name

    @property
    def card(self) -> Card:
        """What the entry holds, as written last."""
        return Card.read(self.folder / CARD)

    @property
    def n_bytes(self) -> int:
        """Bytes on disk, finished or not."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def write_card(self, card: Card) -> None:
        """Write the card, all or nothing."""
        card.write(self.folder / CARD)

    def append(self, card: Card, x: NDArray[np.float32], skipped: Iterable[Skipped]) -> Card:
        """Write the next shard, then the card that counts it: a crash between the two costs one shard."""
        name = f"{len(card.shards):05d}.safetensors"
        content = save({"x": np.ascontiguousarray(x, np.float32)}, {"format": "anacp-features"})
        with replacing(self.folder / name) as temporary:
            temporary.write_bytes(content)
        shard = Shard(name, len(x), len(content), _checksum(content))
        card = replace(card, shards=(*card.shards, shard), skipped=(*card.skipped, *skipped))
        self.write_card(card)
        return card

    def rows(self, card: Card, shard: Shard) -> NDArray[np.float32]:
        """Return the features of one shard, checked byte by byte."""  # (rows, d)
        path = self.folder / shard.file
        try:
            content = path.read_bytes()
            if _checksum(content) != shard.checksum:
                raise ValueError("its checksum differs")
            x: NDArray[np.float32] = load(content)["x"]
            if x.shape != (shard.rows, card.n_features) or x.dtype != np.float32:
                raise ValueError(f"it holds {x.shape} {x.dtype} instead of {(shard.rows, card.n_features)} float32")
            if not np.isfinite(x).all():
                raise ValueError("it holds NaN or infinity")
        except (OSError, KeyError, ValueError, SafetensorError) as problem:
            raise FeatureStoreError(
                f"Expected the shard as it was written, got damage: {path} ({problem}). "
                "Extract again: the damaged part is replaced."
            ) from problem
        return x

    def problems(self) -> list[str]:
        """Return what is wrong with the entry; an unfinished one is not wrong."""
        try:
            card = self.card
        except FeatureStoreError as problem:
            return [str(problem)]
        found = []
        for shard in card.shards:
            try:
                self.rows(card, shard)
            except FeatureStoreError as problem:
                found.append(str(problem))
        if card.complete and card.n_rows + len(card.skipped) != card.n_items:
            found.append(f"Expected {card.n_items} rows and skipped items, got {card.n_rows} + {len(card.skipped)}.")
        return found

    def remove(self) -> None:
        """Delete the entry; it leaves the store at once, even if deleting is interrupted."""
        hidden = self.folder.with_name(f".removed-{self.key}-{os.getpid()}")
        self.folder.rename(hidden)
        shutil.rmtree(hidden)


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
