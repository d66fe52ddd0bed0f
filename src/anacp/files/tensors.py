"""One safetensors file of one kind: readable metadata, no pickle, written all or nothing, checked when it is read."""

import hashlib
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from anacp.errors import MissingDataError, ModelFileError, UncheckedFileWarning
from anacp.files.atomic import replacing
from anacp.files.facts import Record, shown_names
from anacp.files.headers import BLANK, LARGEST_HEADER, SEAL, raw_header, seal, seal_of, stated_seal
from anacp.version import __version__

PLAIN = ("format", "format_version", "written_by", SEAL)
DIGESTS = "digests"
FINITE_BLOCK = 2**20  # numbers looked at together, so that looking needs little memory
# As safetensors names the precisions.
DTYPES = {
    torch.float32: "F32",
    torch.float64: "F64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


@dataclass(frozen=True)
class FileKind:
    """What a file is, and up to which version it can be read."""

    format: str  # as its metadata says it
    version: int
    title: str  # as messages say it, with its article
    sealed_since: int = 2  # the first version that has a digest of everything; earlier ones are read with a warning
    noted: bool = True  # whether that warning is given: not where files are many, and can be made anew
    plain: bool = False  # metadata are texts, for readers other than this one, instead of JSON


def write_tensors(path: str | Path, kind: FileKind, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write to a neighbouring temporary file, then rename: a crash leaves the old file or the new one, never half."""
    contents = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    digests = {name: _digest(tensor) for name, tensor in contents.items()}
    metadata = {"format": kind.format, "format_version": str(kind.version), "written_by": f"anacp {__version__}"}
    metadata = dict(header) if kind.plain else metadata | {key: json.dumps(value) for key, value in header.items()}
    metadata |= {DIGESTS: json.dumps(digests), SEAL: BLANK}
    if (size := sum(len(key) + len(value) for key, value in metadata.items())) > LARGEST_HEADER // 2:  # and its escapes
        raise ModelFileError(
            f"Expected a header of at most {LARGEST_HEADER // 2:,} characters, got {size:,}: {path} is not written. "
            "Give the classes shorter labels."
        )
    with replacing(Path(path)) as temporary:
        _save(contents, temporary, metadata)
        seal(temporary)


def _save(contents: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    try:
        save_file(contents, path, metadata)
    except SafetensorError as problem:  # it quotes what the system said, by number
        quoted = re.search(r"([^:]*)\(os error (\d+)\)", str(problem))
        if quoted is None:
            raise
        raise OSError(int(quoted[2]), quoted[1].strip()) from problem


class TensorFile:
    """An open file: its header at once, its tensors when they are asked for.

    It stays the file that was opened, even when `write_tensors` puts another in its place. The header has a digest of
    itself, checked here, and one of each tensor, checked when that is read: no bit can change unnoticed.

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
    sealed : bool
        Whether it has these digests; files of earlier versions have not.

    Raises
    ------
    MissingDataError
        If there is no file.
    ModelFileError
        If it is truncated, changed, of another kind, or of a newer version.
    """

    def __init__(self, path: str | Path, kind: FileKind) -> None:
        self.path = Path(path)
        self._kind = kind
        if not self.path.exists() or self.path.is_dir():
            noun = kind.title.partition(" ")[2]
            raise MissingDataError(f"No {noun} at {path}. Check the path, or write one with `save`.")
        metadata, raw = self._opened()
        version = 0 if kind.plain else self._version(metadata)  # first: a newer one may be sealed in another way
        self.sealed = SEAL in metadata
        if self.sealed and metadata[SEAL] != seal_of(raw):
            raise self.damage("its header is not as it was written")
        if not self.sealed and version >= kind.sealed_since and not kind.plain:
            raise self.damage("its header has no digest")
        names = self._file.keys()
        self._shapes = {name: self._layout(name) for name in names}
        self._digests = self._read_digests(metadata.get(DIGESTS))
        self.header: dict[str, Any] = self._stated(metadata)
        if not self.sealed and kind.noted and not kind.plain:
            warnings.warn(
                f"{self.path} was written by {self.header['written_by']}, before files had a digest of everything: "
                "damage to it may go unnoticed. Save it again to have it checked from then on.",
                UncheckedFileWarning,
                stacklevel=3,
            )

    def tensors(self, prefix: str = "") -> dict[str, Tensor]:
        """Read the tensors whose names begin so, by the rest of their names; one changed or not finite is refused."""
        names = [name for name in self._shapes if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._tensor(name) for name in names}

    def sizes(self, prefix: str = "") -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tensors whose names begin so, by the rest of their names; nothing is read."""
        named = {name: shape for name, (_, shape) in self._shapes.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): shape for name, shape in named.items()}

    def outlines(self, prefix: str = "") -> dict[str, Tensor]:
        """Return those tensors without their numbers, on device "meta"; nothing is read."""
        precision = {name: dtype for dtype, name in DTYPES.items()}
        unknown = [name for name, (dtype, _) in self._shapes.items() if dtype not in precision]
        if unknown:
            raise self.damage(f"{shown_names(unknown)} is of a precision that is not known")
        return {
            name: torch.empty(shape, dtype=precision[self._shapes[f"{prefix}{name}"][0]], device="meta")
            for name, shape in self.sizes(prefix).items()
        }

    def check_header(self, record: Record) -> None:
        """Refuse a header that says anything else."""
        problem = record.problem("", {key: value for key, value in self.header.items() if key != "written_by"})
        if problem is not None:
            raise self.damage(problem)

    def check_tensors(self, expected: Mapping[str, Tensor]) -> None:
        """Refuse other tensors than these, by name, precision and shape, before any is read.

        A file of an earlier version may lack what was not kept then.
        """
        if unknown := sorted(self._shapes.keys() - expected.keys()):
            raise self.damage(f"it holds {shown_names(unknown)}, which nothing it says asks for")
        if self.sealed and (missing := sorted(expected.keys() - self._shapes.keys())):
            raise self.damage(f"it lacks {shown_names(missing)}")
        for name, (dtype, shape) in self._shapes.items():
            wanted = DTYPES.get(expected[name].dtype), tuple(expected[name].shape)
            if (dtype, shape) != wanted:
                raise self.damage(f"{name} is {dtype} {list(shape)}, not {wanted[0]} {list(wanted[1])}")

    def damage(self, problem: object) -> ModelFileError:
        """Return the error that says what is wrong with this file, in one line."""
        said = " ".join(str(problem).split())[:300]
        return ModelFileError(
            f"Expected {self._kind.title}, got a file that is truncated, damaged or of another kind: {self.path} "
            f"({said}). Copy it again from its source, or make it anew."
        )

    def _opened(self) -> tuple[dict[str, str], bytes]:
        """Open the file, and return its metadata and its header as it lies there."""
        try:
            for _ in range(9):  # another file may take its place between the two
                raw = raw_header(self.path)
                self._file = cast(Any, safe_open(self.path, framework="pt"))
                metadata: dict[str, str] = self._file.metadata() or {}
                if metadata.get(SEAL) == stated_seal(raw):
                    break
        except (SafetensorError, ValueError, RecursionError) as problem:
            raise self.damage(problem) from problem
        return metadata, raw

    def _layout(self, name: str) -> tuple[str, tuple[int, ...]]:
        part = self._file.get_slice(name)
        return str(part.get_dtype()), tuple(part.get_shape())

    def _tensor(self, name: str) -> Tensor:
        try:
            # A copy of its own: products differ in the last digit between numbers that lie aligned in memory or not.
            tensor: Tensor = self._file.get_tensor(name).clone()
        except (SafetensorError, ValueError, RuntimeError) as problem:
            raise self.damage(problem) from problem
        if name in self._digests and self._digests[name] != _digest(tensor):
            raise self.damage(f"{name} is not as it was written")
        if not is_finite(tensor):
            raise self.damage(f"{name} holds NaN or infinity")
        return tensor

    def _version(self, metadata: Mapping[str, str]) -> int:
        if metadata.get("format") != self._kind.format:
            raise ModelFileError(
                f"Expected {self._kind.title}, got a safetensors file of another kind: {self.path}. "
                "Give a file written by `save`."
            )
        stated = metadata.get("format_version", "")
        if not re.fullmatch(r"[1-9][0-9]{0,8}", stated):
            raise self.damage("it does not say its version")
        if int(stated) > self._kind.version:
            raise ModelFileError(
                f"Expected format version {self._kind.version} or older, got {stated} (written by "
                f"{metadata.get('written_by', 'an unknown version')}): {self.path}. Upgrade anacp to read it."
            )
        return int(stated)

    def _stated(self, metadata: Mapping[str, str]) -> dict[str, Any]:
        if self._kind.plain:
            return {key: value for key, value in metadata.items() if key not in (SEAL, DIGESTS)}
        kept = {key: value for key, value in metadata.items() if key not in (*PLAIN, DIGESTS)}
        return self._parsed(kept) | {"written_by": metadata.get("written_by", "an unknown version")}

    def _read_digests(self, stated: str | None) -> dict[str, str]:
        """Return the digests of the tensors: of all, unless the file is of a version that had none."""
        if stated is None and not self.sealed:
            return {}
        digests = self._parsed({DIGESTS: stated or "null"})[DIGESTS]
        whole = isinstance(digests, dict) and all(isinstance(digest, str) for digest in digests.values())
        if not whole or digests.keys() != self._shapes.keys():
            raise self.damage("its digests are not those of its tensors")
        return cast(dict[str, str], digests)

    def _parsed(self, texts: Mapping[str, str]) -> dict[str, Any]:
        try:
            return {key: json.loads(value) for key, value in texts.items()}
        except (ValueError, RecursionError) as problem:
            raise self.damage(problem) from problem


def is_finite(tensor: Tensor) -> bool:
    """Say whether there is no NaN and no infinity, a block at a time."""
    if not tensor.is_floating_point():
        return True
    return all(bool(torch.isfinite(block).all()) for block in torch.split(tensor.reshape(-1), FINITE_BLOCK))


def _digest(tensor: Tensor) -> str:
    return hashlib.blake2b(tensor.reshape(-1).view(torch.uint8).numpy().data, digest_size=16).hexdigest()
