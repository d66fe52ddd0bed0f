"""The header of a safetensors file, byte by byte: bounded before it is read, and sealed by a digest of itself."""

import hashlib
import json
import mmap
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

SEAL = "header_digest"
BLANK = "0" * 32
LARGEST_HEADER = 2**26  # bytes: a million classes, each with a long name
METADATA = "__metadata__"

# Inside a text, quotes are escaped: this can only be the metadata's own entry.
_PLACE = re.compile(rb'"header_digest":"([0-9a-f]{32})"')
_PRECISION = re.compile(r"(?:BOOL|B?F|[UI])(\d*)(?:_\w+)?")


@dataclass(frozen=True)
class Layout:
    """Where a tensor lies in its file, and as what."""

    dtype: str  # as safetensors names it
    shape: tuple[int, ...]
    start: int  # in bytes, from the beginning of the file
    size: int  # in bytes


def mapped(path: Path) -> mmap.mmap:
    """Return the bytes of a regular file, which stay those of the file that was there; ValueError if it is none."""
    # Opening a pipe would wait for its writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("not a regular file")
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)  # ValueError if it is empty
    finally:
        os.close(handle)


def raw_header(content: mmap.mmap) -> bytes:
    """Return length and header, as they lie there; ValueError if there is nothing of the kind."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ValueError("the file ends before its header does")
    if length > LARGEST_HEADER:
        raise ValueError(f"a header of {length:,} bytes, more than {LARGEST_HEADER:,}")
    return content[: 8 + length]


def parsed_header(raw: bytes, file_size: int) -> tuple[dict[str, str], dict[str, Layout]]:
    """Return the metadata, and where each tensor lies: one after the other, to the end; ValueError if they do not."""
    stated = json.loads(raw[8:].decode(), object_pairs_hook=_distinct)
    if not isinstance(stated, dict):
        raise ValueError("its header is no record")
    metadata = stated.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("its metadata are not texts")
    layouts = {name: _layout(name, entry, len(raw)) for name, entry in stated.items()}
    end = len(raw)
    for name, layout in sorted(layouts.items(), key=lambda item: (item[1].start, item[1].size)):
        if layout.start != end:
            raise ValueError(f"{name!r} does not begin where the tensor before it ends")
        end += layout.size
    if end != file_size:
        raise ValueError("its tensors do not end where the file does")
    return cast(dict[str, str], metadata), layouts


def seal_of(raw: bytes) -> str:
    """Return the digest of a header, its own digits counted as zeros."""
    blank = _PLACE.sub(b'"header_digest":"' + BLANK.encode() + b'"', raw)
    return hashlib.blake2b(blank, digest_size=16).hexdigest()


def seal(path: Path) -> None:
    """Write the digest of the header into a file that was written with a blank one."""
    raw = raw_header(mapped(path))
    (place,) = _PLACE.finditer(raw)
    with path.open("rb+") as file:
        file.seek(place.start(1))
        file.write(seal_of(raw).encode())


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("its header says something twice")
    return record


def _layout(name: str, entry: Any, header_end: int) -> Layout:
    whole = isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "data_offsets"}
    if not whole or not _are_sizes(entry["shape"]) or not _are_sizes(entry["data_offsets"]):
        raise ValueError(f"{name!r} is no tensor")
    start, end = entry["data_offsets"] if len(entry["data_offsets"]) == 2 else (0, -1)
    layout = Layout(str(entry["dtype"]), tuple(entry["shape"]), header_end + start, end - start)
    precision, bits = _PRECISION.fullmatch(layout.dtype), 1
    for factor in (int(precision[1] or 8) if precision else 0, *layout.shape):
        bits *= factor
        if bits >= 2**63:  # numbers without end take time without end
            break
    if precision is None or bits != 8 * layout.size:
        raise ValueError(f"{name!r} is not of the size that it states")
    return layout


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 for value in values
    )
