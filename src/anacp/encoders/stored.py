"""The features that one network has made so far: a card that says whose they are, shards of rows, and what is new."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import RLock

import numpy as np
import torch
from numpy.typing import NDArray

from anacp.backbones import Backbone, Layers
from anacp.errors import AnacpError, FeatureStoreError
from anacp.files import Fact, FileKind, Record, TensorFile, read_json, replacing, sweep_leftovers, write_tensors
from anacp.items import content_hash
from anacp.version import __version__

CARD, CARD_VERSION = "card.json", 2
REMEDY = "remove it with `anacp features prune`"
SHARD = FileKind("anacp-features", 3, "a shard of features", sealed_since=3, noted=False)
_FACTS = Record({"fingerprint": Fact.text(), "rows": Fact.whole(0), "seconds": Fact.share()})
SUFFIX = ".safetensors"
# RuntimeError is what torch raises for a file that has just gone.
UNREADABLE = (AnacpError, OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError)
ATTEMPTS = 10  # to write into a folder that others keep removing
ROWS_PER_SHARD = 512  # how much work a kill may cost: a few seconds on two cores


@dataclass(frozen=True)
class FeatureCard:
    """What made the rows of a folder."""

    backbone: str
    fingerprint: str
    adaptation: str | None
    layers: Layers
    n_features: int
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    written_by: str = f"anacp {__version__}"
    card_version: int = CARD_VERSION

    @classmethod
    def of(cls, backbone: Backbone) -> FeatureCard:
        """Return the card for features of a backbone."""
        identity = backbone.identity
        name = backbone.preset.name
        return cls(name, backbone.fingerprint, identity.adaptation, identity.layers, backbone.n_features)

    def write(self, folder: Path) -> None:
        """Write all or nothing."""
        with replacing(folder / CARD) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @staticmethod
    def version_at(folder: Path) -> int:
        """Return the version that a folder's card states; 0 if there is no readable one."""
        try:
            return int(read_json(folder / CARD)["card_version"])
        except UNREADABLE:
            return 0

    @classmethod
    def read(cls, folder: Path) -> FeatureCard:
        """Return the card of a folder, or say what is wrong with it."""
        path, version = folder / CARD, cls.version_at(folder)
        if version not in (0, CARD_VERSION):
            wanted = "Upgrade anacp to read it" if version > CARD_VERSION else f"Its features are not used: {REMEDY}"
            raise FeatureStoreError(f"Expected a card of version {CARD_VERSION}, got {version}: {path}. {wanted}.")
        try:
            stated = read_json(path)
            return cls(**stated | {"layers": tuple(stated["layers"])})
        except UNREADABLE as problem:
            raise FeatureStoreError(
                f"Expected a readable card, got none at {path} ({problem}). Encode again, or {REMEDY}."
            ) from problem


class Shard:
    """Rows on disk and the digests of their items; the rows are read and checked when they are first asked for.

    Parameters
    ----------
    path : Path
        The file.
    fingerprint : str
        Of the network that made the rows; a shard of another is foreign.

    Attributes
    ----------
    digests : list of bytes
        Of the items, row by row.
    seconds : float
        What a row took to compute.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        try:
            file = TensorFile(path, SHARD)
            file.check_header(_FACTS)
            file.check_tensors(_expected(file))
            if file.header["fingerprint"] != fingerprint:
                raise ValueError("another network made it")
            self.digests = [bytes(digest) for digest in file.arrays("digests")[""]]
            self.seconds = float(file.header["seconds"]) / max(1, len(self.digests))
        except UNREADABLE as problem:
            raise self._damage(problem) from problem

    @cached_property
    def x(self) -> NDArray[np.float32]:
        """The features, checked bit by bit."""  # (k, d)
        try:
            # Opened anew: there may be more shards than a process may have files. Their names say what is in them.
            x: NDArray[np.float32] = TensorFile(self.path, SHARD).arrays("x")[""]
            if x.ndim != 2 or len(x) != len(self.digests) or x.dtype != np.float32:
                raise ValueError(f"it holds {x.shape} {x.dtype} for {len(self.digests)} items")
            if not np.isfinite(x).all():
                raise ValueError("it holds NaN or infinity")
        except UNREADABLE as problem:
            raise self._damage(problem) from problem
        return x

    @staticmethod
    def files(folder: Path) -> list[Path]:
        """Return the shards of a folder, whole or damaged."""
        with suppress(FileNotFoundError):  # removed by another process just now
            return sorted(folder.glob(f"*{SUFFIX}"))
        return []

    @staticmethod
    def write(folder: Path, fingerprint: str, digests: Sequence[bytes], x: NDArray[np.float32], seconds: float) -> Path:
        """Write a shard under the hash of its content, so that several processes can add to a folder at once."""
        names = np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), -1)
        path = folder / f"{content_hash(names.tobytes(), x.tobytes())}{SUFFIX}"
        header = {"fingerprint": fingerprint, "rows": len(x), "seconds": seconds}
        write_tensors(path, SHARD, header, {"digests": torch.from_numpy(names.copy()), "x": torch.from_numpy(x)})
        return path

    def _damage(self, problem: Exception) -> FeatureStoreError:
        return FeatureStoreError(
            f"Expected the shard as it was written, got damage: {self.path} ({problem}). "
            "Encode again: the damaged part is replaced."
        )


def _expected(file: TensorFile) -> dict[str, torch.Tensor]:
    """Return outlines of what a shard holds: 16 bytes for each item, and as many rows of any width."""
    rows, sizes = file.header["rows"], file.sizes()
    width = sizes["x"][1] if len(sizes.get("x", ())) == 2 else 0
    return {
        "digests": torch.empty(rows, sizes.get("digests", (0, 0))[-1], dtype=torch.uint8, device="meta"),
        "x": torch.empty(rows, width, dtype=torch.float32, device="meta"),
    }


class StoredFeatures:
    """Rows by the digest of their item: what is on disk, and what `flush` will write. Threads may share it.

    A shard that is damaged or foreign counts as none, and is removed when its rows are written anew.

    Parameters
    ----------
    folder : Path
        Where the shards are.
    card : FeatureCard
        Whose features they are.
    """

    def __init__(self, folder: Path, card: FeatureCard) -> None:
        self._folder, self._card = folder, card
        self._lock = RLock()
        self._places: dict[bytes, tuple[Shard, int]] = {}
        self._damaged: list[Path] = []
        self._new: dict[bytes, NDArray[np.float32]] = {}
        self._new_seconds = 0.0
        for path in Shard.files(folder):
            self._index(path)

    def __len__(self) -> int:
        return len(self._places) + len(self._new)

    def get(self, digest: bytes) -> NDArray[np.float32] | None:
        """Return the row of an item, if it is there."""  # (d,)
        with self._lock:
            if digest in self._new:
                return self._new[digest]
            shard, row = self._places.get(digest, (None, 0))
            if shard is None:
                return None
            try:
                found: NDArray[np.float32] = shard.x[row]
            except FeatureStoreError:
                self._forget(shard)
                return None
            return found

    def seconds(self, digest: bytes) -> float:
        """Return what a row took to compute when it was; 0 for one that is not on disk."""
        with self._lock:
            return self._places[digest][0].seconds if digest in self._places else 0.0

    def add(self, digest: bytes, row: NDArray[np.float32], seconds: float = 0.0) -> None:
        """Keep a row that took so long to compute; now and then, this writes a shard."""
        with self._lock:
            if digest not in self._places:
                self._new[digest] = row
                self._new_seconds += seconds
            if len(self._new) >= ROWS_PER_SHARD:
                self.flush()

    def flush(self) -> None:
        """Write what is new.

        Raises
        ------
        FeatureStoreError
            If it cannot be written. It is kept, and the next flush tries again.
        """
        with self._lock:
            for attempt in range(ATTEMPTS):
                try:
                    self._flush()
                    return
                except Exception as problem:  # those who write tensors say in a way of their own what the disk said
                    refused = isinstance(problem, OSError) and not isinstance(problem, FileNotFoundError)
                    if not refused and attempt < ATTEMPTS - 1:
                        continue  # another process may have removed the folder under us: it is made again
                    raise FeatureStoreError(
                        f"Expected to keep features in {self._folder}, got: {problem}. Make room there, or have them "
                        "kept elsewhere (ANACP_HOME)."
                    ) from problem

    def _flush(self) -> None:
        for path in self._damaged:
            path.unlink(missing_ok=True)
        self._damaged.clear()
        sweep_leftovers(self._folder)
        if len(self):
            self._write_card()
        if not self._new:
            return
        digests, x = list(self._new), np.stack(list(self._new.values()))
        path = Shard.write(self._folder, self._card.fingerprint, digests, x, self._new_seconds)
        self._new, self._new_seconds = {}, 0.0
        self._index(path)

    def _write_card(self) -> None:
        with suppress(FeatureStoreError):
            FeatureCard.read(self._folder)
            return
        self._card.write(self._folder)

    def _index(self, path: Path) -> None:
        try:
            shard = Shard(path, self._card.fingerprint)
        except FeatureStoreError:
            self._damaged.append(path)
            return
        self._places |= {digest: (shard, row) for row, digest in enumerate(shard.digests)}

    def _forget(self, damaged: Shard) -> None:
        self._damaged.append(damaged.path)
        self._places = {digest: place for digest, place in self._places.items() if place[0] is not damaged}
