"""Sources as parts that any node can read, from local disks or whatever fsspec opens."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.datasets import ARCHIVE_SUFFIXES, Columns, Labelled, LeftOut, feature_examples, is_table, read_labelled
from anacp.errors import DataFileError, InputError, MismatchError, MissingDataError
from anacp.extras import require
from anacp.files import home, replacing
from anacp.items import EncodedImage, OnError, content_hash
from anacp.labels import label_array

REMOTE, SAMPLE, FEATURES = "://", "sample:", ".npz"
HELD = 2  # parts that a process keeps in memory
CHUNK = 1 << 22


@dataclass(frozen=True)
class Reading:
    """How sources are read: what the plain command is told of them."""

    label: str | None = None
    split: str | None = None
    on_error: OnError = "refuse"
    columns: Columns = Columns()  # noqa: RUF009 (a frozen value)
    modality: str | None = None

    def read(self, place: str) -> Labelled:
        """Return the examples of one part, from wherever it is."""
        return _read(self, place)


@dataclass(frozen=True)
class RemoteImage(EncodedImage):
    """An image file that fsspec opens."""

    name: str  # its address

    def read(self) -> bytes:
        """Return the encoded file."""
        files, path = _opened(self.name)
        try:
            content: bytes = files.cat_file(path)
        except FileNotFoundError as problem:
            raise MissingDataError(f"Expected a file at {self.name}, got none.") from problem
        return content


@dataclass(frozen=True)
class Described:
    """What a part holds, without its items."""

    place: str
    mark: str  # a hash of what there is to read, and in which order
    modality: str  # "image", "text" or "features"
    names: NDArray[Any]  # (c,) of its classes
    codes: NDArray[np.int32]  # (n,) which of them each row is of
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""  # (n,)
        return np.asarray(self.names[self.codes])


def places(sources: Sequence[str]) -> list[str]:
    """Return the parts of some sources: a file each, or a whole folder of images.

    A folder of nothing but tables and archives is all of these; an address may have `*` in it.
    """
    found = [place for source in sources for place in _places(source)]
    if not found:
        raise InputError("Expected examples, got none. Give a folder, a table, archives, or addresses of some.")
    if len(set(found)) < len(found):
        raise InputError(f"Expected each source once, got {found[0]} and others twice. Leave one out.")
    return found


def modality_of(reading: Reading, sources: Sequence[str]) -> str:
    """Return what sources hold, by the first part: "image", "text" or "features"."""
    return reading.read(places(sources)[0]).modality


def described(reading: Reading, place: str) -> Described:
    """Read a part, and say what it holds."""
    part = reading.read(place)
    names, codes = np.unique(part.labels, return_inverse=True)
    return Described(place, mark_of(part), part.modality, names, codes.astype(np.int32), part.left_out, part.notes)


def rows_of(reading: Reading, place: str, mark: str) -> Labelled:
    """Return the examples of a part as it was when it was described, or refuse it."""
    part = reading.read(place)
    if mark_of(part) != mark:
        _held.cache_clear()
        raise MismatchError(
            f"Expected {place} as it was at the start, and on every node alike, got something else there. Have all "
            "nodes see the same files, let nobody change them meanwhile, and start again."
        )
    return part


def mark_of(part: Labelled) -> str:
    """Return a hash of the names of images, or of the texts or rows themselves, with their labels, in their order."""
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(part.items, np.ndarray):
        digest.update(np.ascontiguousarray(part.items).view(np.uint8).data)
        digest.update(repr(part.labels.tolist()).encode(errors="surrogatepass"))
        return digest.hexdigest()
    for item, label in zip(part.items, part.labels.tolist(), strict=True):
        named = item if isinstance(item, str) else getattr(item, "name", str(item))
        digest.update(f"{len(named)} {named}\0{label!r}\0".encode(errors="surrogatepass"))
    return digest.hexdigest()


def _read(reading: Reading, place: str) -> Labelled:
    return _held(reading, place, _version(place))


@lru_cache(maxsize=HELD)
def _held(reading: Reading, place: str, version: str) -> Labelled:
    options: dict[str, Any] = {"label": reading.label, "split": reading.split, "on_error": reading.on_error}
    if REMOTE in place and not _is_file(place):
        return _remote_folder(place, reading.label)
    path = str(_fetched(place, version)) if REMOTE in place else place
    if has_features(place):
        rows, _ = feature_examples(path, split=reading.split or "train")
        return Labelled(rows.items, rows.labels, "features")
    return read_labelled(path, columns=reading.columns, modality=reading.modality, **options)


def _version(place: str) -> str:
    """Return what changes when a file does; folders are listed every time that they leave the memory."""
    if REMOTE in place:
        if not _is_file(place):
            return ""
        files, path = _opened(place)
        facts = files.info(path)
        return content_hash(repr([facts.get(key) for key in ("size", "ETag", "LastModified", "mtime")]).encode())
    try:
        facts = Path(place).stat()
    except OSError:
        return ""
    return f"{facts.st_size} {facts.st_mtime_ns}"


def has_features(place: str) -> bool:
    """Say whether a source is of features, by its name."""
    return place.startswith(SAMPLE) or place.lower().endswith(FEATURES)


def _places(source: str) -> list[str]:
    if source.startswith(SAMPLE):
        return [source]
    if REMOTE not in source:
        path = Path(source).expanduser()
        if not path.exists():
            raise MissingDataError(f"Expected a folder, a table or an archive at {source}, got none. Check the path.")
        inside = [one for one in sorted(path.iterdir()) if not one.name.startswith(".")] if path.is_dir() else []
        if inside and all(one.is_file() and _is_file(one.name) for one in inside):
            return [str(one.resolve()) for one in inside]
        return [str(path.resolve())]
    files, inner = _opened(source)
    scheme = source.partition(REMOTE)[0]
    if "*" in inner:
        return [f"{scheme}{REMOTE}{one}" for one in sorted(files.glob(inner))]
    if _is_file(source):
        return [source]
    found: list[str] = sorted(files.find(inner))
    if not found:
        raise MissingDataError(f"Expected files at {source}, got none. Check the address.")
    return [f"{scheme}{REMOTE}{one}" for one in found] if all(map(_is_file, found)) else [source.rstrip("/")]


def _is_file(place: str) -> bool:
    """Say whether a name is that of a table or an archive."""
    return place.lower().endswith((*ARCHIVE_SUFFIXES, FEATURES)) or is_table(place)


def _remote_folder(place: str, label: str | None) -> Labelled:
    """Return the images below an address, each of the class that its folder is called."""
    files, path = _opened(place)
    scheme, top = place.partition(REMOTE)[0], path.rstrip("/") + "/"
    names = [one for one in sorted(files.find(path)) if not one.rpartition("/")[2].startswith(".")]
    inside = [name for name in names if label is not None or "/" in name.removeprefix(top)]
    if not inside:
        raise DataFileError(f"Expected class folders with images at {place}, got none among {len(names)} files.")
    loose = tuple(LeftOut(f"{scheme}{REMOTE}{one}", "beside the class folders") for one in sorted({*names} - {*inside}))
    labels = [label or name.removeprefix(top).split("/")[0] for name in inside]
    return Labelled([RemoteImage(f"{scheme}{REMOTE}{name}") for name in inside], label_array(labels), "image", loose)


def _fetched(place: str, version: str) -> Path:
    """Return the copy of a remote file on this machine, fetched once for each version of it."""
    folder = home() / "cluster" / "fetched" / content_hash(f"{place} {version}".encode())
    target = folder / place.rpartition("/")[2]
    if not target.is_file():
        files, path = _opened(place)
        with replacing(target) as temporary, files.open(path, "rb") as source, temporary.open("wb") as written:
            while chunk := source.read(CHUNK):
                written.write(chunk)
    return target


def _opened(place: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    fsspec = require("fsspec.core", extra="ray", purpose=f"Reading {place}")
    try:
        files, path = fsspec.url_to_fs(place)
    except (ImportError, ValueError) as problem:  # no package for its scheme, or no such scheme
        raise MissingDataError(f"Expected an address that fsspec opens, got {place} ({problem}).") from problem
    return files, str(path)


def labels_together(parts: Sequence[Described]) -> tuple[NDArray[Any], bool]:
    """Return the labels of all parts one after the other, and whether numbers had to become texts beside texts."""
    kinds = {part.labels.dtype.kind in "UO" for part in parts}
    as_texts = len(kinds) > 1
    return np.concatenate([part.labels.astype(str) if as_texts else part.labels for part in parts]), as_texts
