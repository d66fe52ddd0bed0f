"""One safetensors file of one kind: readable metadata, no pickle, written all or nothing, checked when it is read."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from anacp.errors import MissingDataError, ModelFileError
from anacp.files.atomic import replacing
from anacp.version import __version__

PLAIN = ("format", "format_version", "written_by")
DIGESTS = "digests"


@dataclass(frozen=True)
class FileKind:
    """What a file is, and up to which version it can be read."""

    format: str  # as its metadata says it
    version: int
    title: str  # as messages say it, with its article
    plain: bool = False  # metadata are texts, for readers other than this one, instead of JSON


def write_tensors(path: str | Path, kind: FileKind, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write to a neighbouring temporary file, then rename: a crash leaves the old file or the new one, never half."""
    contents = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    stated = {**header, DIGESTS: {name: _digest(tensor) for name, tensor in contents.items()}}
    metadata = {"format": kind.format, "format_version": str(kind.version), "written_by": f"anacp {__version__}"}
    metadata = dict(header) if kind.plain else metadata | {key: json.dumps(value) for key, value in stated.items()}
    with replacing(Path(path)) as temporary:
        save_file(contents, temporary, metadata)


class TensorFile:
    """An open file: its header at once, its tensors when they are asked for.

    It stays the file that was opened, even when `write_tensors` puts another in its place.

    Parameters
    ----------
    path : str or path
        A file that `write_tensors` wrote.
    kind : FileKind
        What it must be.

    Attributes
    ----------
    header : dict
        What was given to `write_tensors`, and `written_by`.

    Raises
    ------
    MissingDataError
        If there is no file.
    ModelFileError
        If it is truncated, of another kind, or of a newer version.
    """

    def __init__(self, path: str | Path, kind: FileKind) -> None:
        self.path = Path(path)
        self._kind = kind
        if not self.path.is_file():
            noun = kind.title.partition(" ")[2]
            raise MissingDataError(f"No {noun} at {path}. Check the path, or write one with `save`.")
        try:
            self._file = cast(Any, safe_open(self.path, framework="pt"))
        except SafetensorError as problem:
            raise self._unreadable(problem) from problem
        metadata: dict[str, str] = self._file.metadata() or {}
        self.header: dict[str, Any] = dict(metadata) if kind.plain else self._stated(metadata)
        self._digests = self.header.pop(DIGESTS, {})  # files of the first version have none

    def tensors(self, prefix: str = "") -> dict[str, Tensor]:
        """Read the tensors whose names begin so, by the rest of their names; a changed one is refused."""
        names = [name for name in self._file.keys() if name.startswith(prefix)]  # noqa: SIM118 (not a dictionary)
        return {name.removeprefix(prefix): self._tensor(name) for name in names}

    def _tensor(self, name: str) -> Tensor:
        try:
            # A copy of its own: products differ in the last digit between numbers that lie aligned in memory or not.
            tensor: Tensor = self._file.get_tensor(name).clone()
        except SafetensorError as problem:
            raise self._unreadable(problem) from problem
        if self._digests.get(name, None) not in (None, _digest(tensor)):
            raise self._unreadable(f"{name} is not as it was written")
        return tensor

    def _stated(self, metadata: Mapping[str, str]) -> dict[str, Any]:
        if metadata.get("format") != self._kind.format:
            raise ModelFileError(
                f"Expected {self._kind.title}, got a safetensors file of another kind: {self.path}. "
                "Give a file written by `save`."
            )
        version = int(metadata.get("format_version", 0))
        if version > self._kind.version:
            raise ModelFileError(
                f"Expected format version {self._kind.version} or older, got {version} (written by "
                f"{metadata.get('written_by', 'an unknown version')}): {self.path}. Upgrade anacp to read it."
            )
        try:
            stated = {key: json.loads(value) for key, value in metadata.items() if key not in PLAIN}
        except json.JSONDecodeError as problem:
            raise self._unreadable(problem) from problem
        return stated | {"written_by": metadata.get("written_by", "an unknown version")}

    def _unreadable(self, problem: object) -> ModelFileError:
        return ModelFileError(
            f"Expected {self._kind.title}, got a file that is truncated, damaged or of another kind: {self.path} "
            f"({problem}). Copy it again from its source, or make it anew."
        )


def _digest(tensor: Tensor) -> str:
    return hashlib.blake2b(tensor.reshape(-1).view(torch.uint8).numpy().data, digest_size=16).hexdigest()
