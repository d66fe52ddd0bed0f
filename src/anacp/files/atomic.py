"""Files appear whole or not at all, stay once they are reported, and leave nothing behind."""

import contextlib
import errno
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from anacp.files.disk import writing
from anacp.files.locks import file_lock, folder_lock

SUFFIX = ".part"
# What a file system says that cannot sync a folder at all; a disk that is full or fails says something else.
CANNOT_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF}
CANNOT_OPEN = {errno.EACCES, errno.EPERM}  # a folder that may be written but not read; on Windows, any


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Lend a file to write; it takes the place of `path` at the end, for good, and vanishes on an error.

    It lies in a hidden folder of its own beside `path`, since a library that writes it may put files beside it, and
    leave them there when it is killed. The folder is locked for as long as that, so that the next writer of `path` can
    tell what a killed one left, and remove it.
    """
    with writing(path), _lent(path) as temporary:
        yield temporary


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Lend a folder to fill; it becomes `path` at the end, for good, and vanishes on an error.

    What is written beside it vanishes in any case. If another process was quicker, its folder stays.
    """
    with writing(path):
        _make_folders(path.parent)
        sweep_leftovers(path.parent, path.name)
        with _own_folder(path) as around:
            folder = around / path.name
            folder.mkdir()
            yield folder
            for file in folder.iterdir():
                with file.open("rb+") as written:
                    _sync(written.fileno())
            try:
                folder.rename(path)
            except OSError:
                if not path.is_dir():
                    raise
            _sync_folder(path.parent)


@contextlib.contextmanager
def _lent(path: Path) -> Iterator[Path]:
    _make_folders(path.parent)
    sweep_leftovers(path.parent, path.name)
    with _own_folder(path) as folder:
        temporary = folder / path.name
        mode = _usual_mode(temporary)
        yield temporary
        with temporary.open("rb+") as written:
            _sync(written.fileno())
        temporary.chmod(mode)  # safetensors makes private files; a shared store must stay readable
        temporary.replace(path)
        _sync_folder(path.parent)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep `path` to this process, or refuse at once if another one has it; what a killed one left is swept."""
    with file_lock(path):
        sweep_leftovers(path.parent, path.name)
        yield


def sweep_leftovers(folder: Path, name: str = "") -> None:
    """Remove what processes left in `folder` that were killed while they wrote, a file of that name or any.

    What a living process is writing stays. Where folders cannot be locked, everything does.
    """
    for left in _leftovers(folder, name):
        with contextlib.suppress(OSError), folder_lock(left) as held:
            if held:
                shutil.rmtree(left, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Delete a folder: it leaves its place at once, and what a kill leaves of it is swept like any other leftover."""
    hidden = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}{SUFFIX}")
    with contextlib.suppress(FileNotFoundError):  # another process was quicker
        folder.rename(hidden)
        shutil.rmtree(hidden)
    sweep_leftovers(folder.parent)


def _leftovers(folder: Path, name: str) -> list[Path]:
    start = f".{name}." if name else "."
    try:
        with os.scandir(folder) as entries:
            return [folder / one.name for one in entries if one.name.startswith(start) and one.name.endswith(SUFFIX)]
    except OSError:  # not there, or not to be read: then nothing can be swept
        return []


@contextlib.contextmanager
def _own_folder(path: Path) -> Iterator[Path]:
    """Make a hidden folder beside `path`, keep it while it is used, and remove it."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=SUFFIX))
        with folder_lock(folder) as held:
            if held is False:  # taken for a leftover by somebody who saw it before it was locked
                continue
            try:
                yield folder
                return
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def _make_folders(folder: Path) -> None:
    """Make a folder and those above it, to stay."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        _sync_folder(made.parent)


def _sync_folder(folder: Path) -> None:
    """Have the disk keep which files are in a folder: a new name is not durable before."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        if problem.errno in CANNOT_OPEN:
            return
        raise
    try:
        _sync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in CANNOT_SYNC:
            raise


def _usual_mode(path: Path) -> int:
    """Return the permissions of a file that is simply made; asking for the umask would change it for other threads."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return os.fstat(handle).st_mode & 0o777
    finally:
        os.close(handle)
        path.unlink()
