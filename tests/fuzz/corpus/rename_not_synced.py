"""The folder was not synced after a file had taken its place there: a power cut could undo what was reported."""

import os
from pathlib import Path

from tests.fuzz.corpus._common import solved


def check(folder: Path) -> None:
    model, path, synced = solved(), folder / "model.anacp", []
    real = os.fsync

    def watched(handle: int) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{handle}"), path.exists()))
        real(handle)

    os.fsync = watched
    model.save(path)
    assert (str(folder), True) in synced, f"synced: {[name for name, _ in synced]}"
