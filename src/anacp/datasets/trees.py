"""A folder of files by name, whether it lies unpacked on disk or packed in an archive."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anacp.datasets.archives import index_tar, index_zip
from anacp.errors import DataFileError
from anacp.items import EncodedImage, ImageFile


@dataclass(frozen=True)
class Tree:
    """Files by their names relative to the tree, with forward slashes."""

    path: Path  # the folder or archive, for messages
    files: Mapping[str, EncodedImage]

    @property
    def names(self) -> list[str]:
        """The names, sorted: the same order packed and unpacked."""
        return sorted(self.files)

    def file(self, name: str) -> EncodedImage:
        """Return one file, unread."""
        if name not in self.files:
            raise self._without(name)
        return self.files[name]

    def lines(self, name: str) -> list[list[str]]:
        """Return the lines of a text file that are not empty, each split at its first blank."""
        text = self.file(name).read().decode("utf-8-sig")
        return [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]

    def table(self, name: str) -> dict[str, str]:
        """Return a text file of two columns as a dictionary from the first to the second."""
        rows = self.lines(name)
        for number, row in enumerate(rows, start=1):
            if len(row) != 2:
                raise DataFileError(f"Expected two columns in line {number} of {name} in {self.path}, got {row}.")
        return {first: second.strip() for first, second in rows}

    def below(self, marker: str) -> "Tree":
        """Return the part of the tree in which a file of that name is at the top."""
        tops = [name.removesuffix(marker) for name in self.files if name == marker or name.endswith(f"/{marker}")]
        if not tops:
            raise self._without(f"a file {marker}")
        top = min(tops, key=len)
        inside = {name.removeprefix(top): file for name, file in self.files.items() if name.startswith(top)}
        return Tree(self.path, {name: named(file, name) for name, file in inside.items()})

    def _without(self, what: str) -> DataFileError:
        return DataFileError(
            f"Expected {what} in {self.path}, got {len(self.files)} files without it. Download or unpack it again."
        )


def open_tree(path: Path) -> Tree:
    """Return the files of a folder, a zip or a tar archive; hidden files and macOS's extras are left out."""
    if path.is_dir():
        files = _walk(path)
    elif path.suffix.lower() == ".zip":
        files = index_zip(path)
    else:
        files = index_tar(path)
    return Tree(path, {name: file for name, file in files.items() if not _is_hidden(name)})


def _walk(folder: Path) -> dict[str, EncodedImage]:
    files: dict[str, EncodedImage] = {}
    for path in (Path(parent, name) for parent, _, names in os.walk(folder) for name in names):
        relative = path.relative_to(folder).as_posix()
        files[relative] = ImageFile(path, relative)
    return files


def named(file: EncodedImage, name: str) -> EncodedImage:
    """Return the same file under another name."""
    changed: Any = file  # every file here is a dataclass with a name, which the abstract class cannot say
    renamed: EncodedImage = replace(changed, name=name)
    return renamed


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))
