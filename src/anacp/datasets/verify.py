"""Whether the files on disk are the published ones."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anacp.datasets.registry import source
from anacp.datasets.source import data_folder

__all__ = ["Verified", "verify"]


@dataclass(frozen=True)
class Verified:
    """A published file on disk beside the checksum it should have."""

    path: Path
    expected: str | None  # MD5; None where none is known for certain
    found: str

    @property
    def agrees(self) -> bool | None:
        """Whether it is the published file; None where that cannot be told."""
        return None if self.expected is None else self.expected == self.found


def verify(name: str, *, root: str | Path | None = None) -> Iterator[Verified]:
    """Yield, file by file, what the checksums say about the published files of a known data set that are on disk.

    Unpacked folders and Hugging Face copies have no published checksum and are passed over.
    """
    known, folder = source(name), data_folder(root)
    for layout in known.layouts:
        for file in (file for part in layout.parts for file in part.files):
            for path in (folder / known.folder / file, folder / file):
                if path.is_file():
                    yield Verified(path, known.card.checksums.get(file), _md5(path))
                    break


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
