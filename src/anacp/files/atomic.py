"""Files appear whole or not at all."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

SUFFIX = ".part"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Lend a file to write; it takes the place of `path` at the end, and vanishes on an error.

    It lies in a hidden folder of its own beside `path`, since a library that writes it may put files beside it, and
    leave them there when it is killed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=SUFFIX))
    temporary = folder / path.name
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o666 & ~_umask())  # safetensors makes private files; a shared store must stay readable
        temporary.replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_leftovers(folder: Path) -> None:
    """Remove what processes left in `folder` that were killed while they wrote; none may be writing now."""
    for left in folder.glob(f".*{SUFFIX}"):
        shutil.rmtree(left, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
