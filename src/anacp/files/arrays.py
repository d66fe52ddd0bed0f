"""Arrays in npz files: each has the size that the archive states, and all of them together are not too large."""

import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import DataFileError
from anacp.files.limits import MAX_EXPANDED
from anacp.files.regular import open_regular

MEMBER = ".npy"
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    EOFError,
    OSError,
    TypeError,
    NotImplementedError,
    MemoryError,
)


def read_arrays(path: str | Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file, or those of them with some names; nothing in it is run.

    Raises
    ------
    DataFileError
        If it is truncated, of another kind, or grows beyond proportion.
    FileNotFoundError
        If there is none.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            members = {one.filename.removesuffix(MEMBER): one for one in archive.infolist()}
            chosen = {name: one for name, one in members.items() if names is None or name in names}
            size = sum(one.file_size for one in chosen.values())
            MAX_EXPANDED.check_growth(size, Path(path).stat().st_size, f"the arrays in {path}")
            return {name: _array(archive, member) for name, member in chosen.items()}
    except (DataFileError, FileNotFoundError):
        raise
    except UNREADABLE as problem:
        raise DataFileError(
            f"Expected an npz file of plain arrays, got one that is truncated or of another kind: {path} ({problem})."
        ) from problem


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        count = 1
        for length in shape:
            count *= length
        if dtype.hasobject or min(shape, default=0) < 0 or file.tell() + count * dtype.itemsize != member.file_size:
            raise ValueError(f"{member.filename} is no plain array of the size that it states")
    with archive.open(member) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):  # at its end the archive compares checksums
            raise ValueError(f"{member.filename} goes on after its end")
    return array
