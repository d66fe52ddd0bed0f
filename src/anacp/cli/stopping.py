"""Ctrl-C: one line that says what was kept, and exit code 130, from the first import to the last file."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from anacp.words import visible

CODE = 128 + signal.SIGINT


class Stopped(BaseException):
    """A person has stopped the command; not a KeyboardInterrupt, which typer would take for its own."""

    kept = "Nothing was changed."


@contextlib.contextmanager
def kept(words: Callable[[], str]) -> Iterator[None]:
    """Say these words if the command is stopped meanwhile."""
    try:
        yield
    except Stopped as stopped:
        stopped.kept = words()
        raise


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Turn Ctrl-C into one line and exit code 130."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # as for the background jobs of a shell
        with contextlib.suppress(ValueError):  # in a thread, where others see to signals
            signal.signal(signal.SIGINT, _stop)
    try:
        yield
    except (Stopped, KeyboardInterrupt) as stopped:
        print(f"anacp: stopped. {visible(getattr(stopped, 'kept', Stopped.kept))}", file=sys.stderr)
        sys.exit(CODE)
    finally:
        with contextlib.suppress(ValueError, TypeError):
            signal.signal(signal.SIGINT, before)


class FileBefore:
    """A file as it was, to tell whether it has been replaced since."""

    def __init__(self, path: Path) -> None:
        self._path, self._mark = path, _mark(path)

    def words(self) -> str:
        """Return what became of it."""
        if self._mark != _mark(self._path):
            return f"{self._path} was saved already: it has what was asked for."
        return f"{self._path} is as it was." if self._mark else f"{self._path} was not made."


def _mark(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped
