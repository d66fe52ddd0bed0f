"""What a node keeps of a job on its disk: sums of shards as model files, and what was told of each shard."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from anacp.cluster.tree import Range
from anacp.errors import AnacpError
from anacp.files import home, read_json, remove_folder, replacing
from anacp.learners import Learner
from anacp.methods import load

SUM, NOTHING, TOLD = ".sum", ".nothing", ".told"


def cluster_folder() -> Path:
    """Return where jobs of clusters are kept on this machine."""
    return home() / "cluster"


def disk() -> str:
    """Return a name of the disk that `cluster_folder` is on: nodes of one name see the same files."""
    path = cluster_folder() / "disk"
    for _ in range(2):
        with suppress(FileNotFoundError):
            return path.read_text(encoding="utf-8").strip()
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        written.write_text(uuid.uuid4().hex, encoding="utf-8")
        with suppress(OSError):  # another process was quicker: its name is read
            os.link(written, path)
        written.unlink()
    return path.read_text(encoding="utf-8").strip()


class Kept:
    """The folder of one job on this disk. Every file appears whole or not at all, under the name of what it is."""

    def __init__(self, job: str) -> None:
        self.folder = cluster_folder() / job

    def ranges(self) -> list[Range]:
        """Return the sums that are here."""
        files = [*self.folder.glob(f"*{SUM}"), *self.folder.glob(f"*{NOTHING}")]
        return sorted(Range(*map(int, file.stem.split("-"))) for file in files)

    def put(self, one: Range, learner: Learner[Any] | None) -> None:
        """Keep a sum; None for one of no rows."""
        if learner is None:
            with replacing(self._path(one, NOTHING)) as temporary:
                temporary.touch()
        else:
            learner.save(self._path(one, SUM), exact=True, solution=False)

    def get(self, one: Range) -> Learner[Any] | None:
        """Return a sum, to the bit as it was kept; a damaged file is refused, and gone."""
        if self._path(one, NOTHING).exists():
            return None
        try:
            found = load(self._path(one, SUM))
        except AnacpError:
            self._path(one, SUM).unlink(missing_ok=True)
            raise
        assert isinstance(found, Learner)
        return found

    def holds(self, one: Range) -> bool:
        """Say whether a sum is here."""
        return any(self._path(one, kind).exists() for kind in (SUM, NOTHING))

    def drop(self, one: Range) -> None:
        """Delete a sum, which is part of another one now."""
        for kind in (SUM, NOTHING):
            self._path(one, kind).unlink(missing_ok=True)

    def send(self, one: Range) -> bytes:
        """Return the file of a sum; nothing for one of no rows."""
        return b"" if self._path(one, NOTHING).exists() else self._path(one, SUM).read_bytes()

    def receive(self, one: Range, content: bytes) -> None:
        """Keep the file of a sum that another disk has sent."""
        with replacing(self._path(one, SUM if content else NOTHING)) as temporary:
            temporary.write_bytes(content)

    def tell(self, number: int, told: dict[str, Any]) -> None:
        """Keep what there is to say of a shard; before its sum is kept, so that no sum is without."""
        with replacing(self.folder / f"{number}{TOLD}") as temporary:
            temporary.write_text(json.dumps(told), encoding="utf-8")

    def told(self) -> dict[int, dict[str, Any]]:
        """Return what was said of each shard."""
        found = {}
        for path in self.folder.glob(f"*{TOLD}"):
            with suppress(AnacpError, OSError, ValueError):
                found[int(path.stem)] = read_json(path)
        return found

    def clear(self) -> None:
        """Delete the whole job."""
        remove_folder(self.folder)

    def _path(self, one: Range, kind: str) -> Path:
        return self.folder / f"{one.start}-{one.stop}{kind}"
