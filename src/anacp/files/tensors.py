"""One safetensors file of one kind: readable metadata, no pickle, written all or nothing, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from anacp.errors import MissingDataError, ModelFileError, UncheckedFileWarning
from anacp.files.atomic import replacing
from anacp.files.facts import Record, shown_names
from anacp.files.headers import BLANK, LARGEST_HEADER, SEAL, mapped, parsed_header, raw_header, seal, seal_of
from anacp.files.kinds import FileKind
from anacp.version import __version__

if TYPE_CHECKING:  # each is imported where it is needed: what a header says can be read without
    from numpy.typing import NDArray
    from torch import Tensor

PLAIN = ("format", "format_version", "written_by", SEAL)
DIGESTS = "digests"
FINITE_BLOCK = 2**20  # numbers looked at together, so that looking needs little memory
ALIGNMENT = 64  # bytes: products differ in the last digit between numbers that lie aligned in memory or not
# The precisions by their names in torch and NumPy, as safetensors names them.
DTYPES = {
    "float32": "F32",
    "float64": "F64",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
NAMES = {name: dtype for dtype, name in DTYPES.items()}


class Outline(Protocol):
    """A tensor or an array, whose numbers nobody looks at."""

    @property
    def dtype(self) -> Any:
        """Its precision."""

    @property
    def shape(self) -> Any:
        """Its sizes."""


def write_tensors(path: str | Path, kind: FileKind, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write to a neighbouring temporary file, then rename: a crash leaves the old file or the new one, never half."""
    import torch

    contents = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    places = [tensor.untyped_storage().data_ptr() for tensor in contents.values()]
    # A solution may be what is remembered, such as class means: safetensors wants numbers of its own for each name.
    contents = {n: t.clone() if places.count(p) > 1 else t for (n, t), p in zip(contents.items(), places, strict=True)}
    digests = {name: _digest(one.reshape(-1).view(torch.uint8).numpy().data) for name, one in contents.items()}
    metadata = {"format": kind.format, "format_version": str(kind.version), "written_by": f"anacp {__version__}"}
    metadata = dict(header) if kind.plain else metadata | {key: json.dumps(value) for key, value in header.items()}
    metadata |= {DIGESTS: json.dumps(digests), SEAL: BLANK}
    if (size := sum(len(key) + len(value) for key, value in metadata.items())) > LARGEST_HEADER // 2:  # and its escapes
        raise ModelFileError(
            f"Expected a header of at most {LARGEST_HEADER // 2:,} characters, got {size:,}: {path} is not written. "
            "Give the classes shorter labels."
        )
    with replacing(Path(path)) as temporary:
        save_file(contents, temporary, metadata)
        seal(temporary)


def save_file(contents: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Write tensors as safetensors does; what the system says becomes an `OSError`."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

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
        self._digests = self._read_digests(metadata.get(DIGESTS))
        self.header: dict[str, Any] = self._stated(metadata)
        if not self.sealed and kind.noted and not kind.plain:
            warnings.warn(
                f"{self.path} was written by {self.header['written_by']}, before files had a digest of everything: "
                "damage to it may go unnoticed. Save it again to have it checked from then on.",
                UncheckedFileWarning,
                stacklevel=3,
            )

    def array(self, name: str) -> NDArray[Any]:
        """Read an array; one changed or not finite is refused."""
        import numpy as np

        layout = self._layouts[name]
        if layout.dtype not in NAMES:
            raise self.damage(f"{shown_names([name])} is of a precision that is not known")
        room = np.empty(layout.size + ALIGNMENT, np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        content = room[start : start + layout.size]
        content[:] = np.frombuffer(self._content, np.uint8, layout.size, layout.start) if layout.size else 0
        self._check_digest(name, content.data)
        array = content.view(NAMES[layout.dtype]).reshape(layout.shape)
        if not _is_finite(array):
            raise self.damage(f"{name} holds NaN or infinity")
        return array

    def arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """Read the arrays whose names begin so, by the rest of their names."""
        return {name: self.array(f"{prefix}{name}") for name in self.sizes(prefix)}

    def counts(self, name: str) -> Sequence[float]:
        """Read what is counted (n,), mostly whole numbers, without NumPy; changed ones are refused."""
        layout = self._layouts[name]
        if layout.dtype not in ("I64", "F64") or len(layout.shape) != 1:
            raise self.damage(f"{name} is {layout.dtype} {list(layout.shape)}, not a list of counts")
        content = memoryview(self._content[layout.start : layout.start + layout.size])
        self._check_digest(name, content)
        return content.cast("q" if layout.dtype == "I64" else "d").tolist()

    def tensors(self, prefix: str = "") -> dict[str, Tensor]:
        """Return what `arrays` does as tensors of torch."""
        import torch

        return {name: torch.from_numpy(array) for name, array in self.arrays(prefix).items()}

    def sizes(self, prefix: str = "") -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tensors whose names begin so, by the rest of their names; nothing is read."""
        named = {name: layout.shape for name, layout in self._layouts.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): shape for name, shape in named.items()}

    def outlines(self, prefix: str = "") -> dict[str, Tensor]:
        """Return those tensors without their numbers, on device "meta"; nothing is read."""
        import torch

        unknown = [name for name, layout in self._layouts.items() if layout.dtype not in NAMES]
        if unknown:
            raise self.damage(f"{shown_names(unknown)} is of a precision that is not known")
        precision = {name: getattr(torch, NAMES[layout.dtype]) for name, layout in self._layouts.items()}
        return {
            name: torch.empty(shape, dtype=precision[f"{prefix}{name}"], device="meta")
            for name, shape in self.sizes(prefix).items()
        }

    def check_header(self, record: Record) -> None:
        """Refuse a header that says anything else."""
        problem = record.problem("", {key: value for key, value in self.header.items() if key != "written_by"})
        if problem is not None:
            raise self.damage(problem)

    def check_tensors(self, expected: Mapping[str, Outline]) -> None:
        """Refuse other tensors than these, by name, precision and shape, before any is read.

        A file of an earlier version may lack what was not kept then.
        """
        if unknown := sorted(self._layouts.keys() - expected.keys()):
            raise self.damage(f"it holds {shown_names(unknown)}, which nothing it says asks for")
        if self.sealed and (missing := sorted(expected.keys() - self._layouts.keys())):
            raise self.damage(f"it lacks {shown_names(missing)}")
        for name, layout in self._layouts.items():
            precision = DTYPES.get(str(expected[name].dtype).removeprefix("torch."))
            wanted = precision, tuple(expected[name].shape)
            if (layout.dtype, layout.shape) != wanted:
                found = f"{layout.dtype} {list(layout.shape)}"
                raise self.damage(f"{name} is {found}, not {wanted[0]} {list(wanted[1])}")

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
            self._content = mapped(self.path)
            raw = raw_header(self._content)
            metadata, self._layouts = parsed_header(raw, len(self._content))
        except (ValueError, RecursionError) as problem:
            raise self.damage(problem) from problem
        return metadata, raw

    def _check_digest(self, name: str, content: memoryview) -> None:
        if name in self._digests and self._digests[name] != _digest(content):
            raise self.damage(f"{name} is not as it was written")

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
        if not whole or digests.keys() != self._layouts.keys():
            raise self.damage("its digests are not those of its tensors")
        return cast(dict[str, str], digests)

    def _parsed(self, texts: Mapping[str, str]) -> dict[str, Any]:
        try:
            return {key: json.loads(value) for key, value in texts.items()}
        except (ValueError, RecursionError) as problem:
            raise self.damage(problem) from problem


def _is_finite(array: NDArray[Any]) -> bool:
    """Say whether there is no NaN and no infinity, a block at a time."""
    import numpy as np

    if array.dtype.kind != "f":
        return True
    numbers = array.reshape(-1)
    return all(
        bool(np.isfinite(numbers[start : start + FINITE_BLOCK]).all()) for start in range(0, len(numbers), FINITE_BLOCK)
    )


def _digest(content: memoryview) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
