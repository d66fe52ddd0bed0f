"""The header of a safetensors file, byte by byte: bounded before it is read, and sealed by a digest of itself."""

import hashlib
import os
import re
import stat
from pathlib import Path

SEAL = "header_digest"
BLANK = "0" * 32
LARGEST_HEADER = 2**26  # bytes: a million classes, each with a long name

# Inside a text, quotes are escaped: this can only be the metadata's own entry.
_PLACE = re.compile(rb'"header_digest":"([0-9a-f]{32})"')


def raw_header(path: Path) -> bytes:
    """Return length and header of a regular file, as they lie there; ValueError if there is nothing of the kind."""
    # Opening a pipe would wait for its writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > status.st_size - 8:
            raise ValueError("the file ends before its header does")
        if length > LARGEST_HEADER:
            raise ValueError(f"a header of {length:,} bytes, more than {LARGEST_HEADER:,}")
        return start + file.read(length)


def stated_seal(raw: bytes) -> str | None:
    """Return the digest that a header states of itself."""
    found = _PLACE.findall(raw)
    return found[0].decode() if len(found) == 1 else None


def seal_of(raw: bytes) -> str:
    """Return the digest of a header, its own digits counted as zeros."""
    blank = _PLACE.sub(b'"header_digest":"' + BLANK.encode() + b'"', raw)
    return hashlib.blake2b(blank, digest_size=16).hexdigest()


def seal(path: Path) -> None:
    """Write the digest of the header into a file that was written with a blank one."""
    raw = raw_header(path)
    (place,) = _PLACE.finditer(raw)
    with path.open("rb+") as file:
        file.seek(place.start(1))
        file.write(seal_of(raw).encode())
