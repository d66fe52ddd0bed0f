"""One writer at a time: a file that is read, changed and written back is changed by nobody else meanwhile."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from anacp.errors import BusyError
from anacp.files.disk import writing

try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None  # type: ignore[assignment]

CANNOT_LOCK = {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Keep `path` to this process, or refuse at once if another one has it.

    The lock is on a neighbour file, since the file itself is replaced when it is written. The kernel releases it
    however the process ends.
    """
    if fcntl is None:
        yield
        return
    neighbour = path.with_name(f".{path.name}.lock")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _taken(neighbour)
    if handle is None:
        raise BusyError(
            f"Expected to be alone in changing {path}, got another process that is at it. Try again when it has ended."
        )
    try:
        yield
    finally:
        neighbour.unlink(missing_ok=True)
        os.close(handle)


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[bool | None]:
    """Try to keep a folder to whoever asks, another thread of this process included, until the end.

    Says True if it is kept, False if it is another's or gone, and None where folders cannot be locked. The kernel
    releases it however the process ends.
    """
    if fcntl is None:
        yield None
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _locked_folder(handle, folder)
    finally:
        os.close(handle)


def _locked_folder(handle: int, folder: Path) -> bool | None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), os.stat(folder))  # or it was removed before it was locked
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError as problem:
        if problem.errno in CANNOT_LOCK:
            return None
        raise


def _taken(neighbour: Path) -> int | None:
    """Return the lock, or None if it is another's."""
    while True:
        handle = os.open(neighbour, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before may have removed the file between our opening and locking it: that lock guards nothing.
            if os.path.samestat(os.fstat(handle), os.stat(neighbour)):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(handle)
            return None
        os.close(handle)
