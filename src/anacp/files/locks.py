"""One writer at a time: a file that is read, changed and written back is changed by nobody else meanwhile."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from anacp.errors import BusyError

try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep `path` to this process, or refuse at once if another one has it.

    The lock is on a neighbour file, since the file itself is replaced when it is written. The kernel releases it
    however the process ends.
    """
    if fcntl is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    neighbour = path.with_name(f".{path.name}.lock")
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
