"""Only regular files are read: a pipe, a socket or a device under the name of a file could block for ever."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from anacp.errors import DataFileError
from anacp.files.limits import MAX_FILE, Limit

FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_regular(path: str | Path) -> BinaryIO:
    """Open a file to read its bytes; anything but a regular file is refused with a `DataFileError`, without waiting."""
    _check(path, os.stat(path).st_mode)  # opening a device can have an effect by itself
    handle = os.open(path, FLAGS)
    try:
        _check(path, os.fstat(handle).st_mode)  # it may be another by now
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: str | Path, limit: Limit = MAX_FILE) -> bytes:
    """Return what is in a regular file that is not too large."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        limit.check(size, str(path))
        return file.read(size)


def _check(path: str | Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "something else")
        raise DataFileError(f"Expected a regular file, got {kind}: {path}. Remove it, or give a file.")
