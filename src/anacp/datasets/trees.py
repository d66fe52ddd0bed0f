"""A folder of files by name, whether it lies unpacked on disk or packed in an archive."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from anacp.datasets.archives import index_tar, index_zip
from anacp.datasets.dataset import LeftOut
from anacp.errors import AnacpError, DataFileError
from anacp.items import EncodedImage, ImageFile, picture_kind

SYSTEM_FILES = ("thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r")  # nobody put these there, as those with a dot


@dataclass(frozen=True)
class Tree:
    """Files by their names relative to the tree, with forward slashes."""

    path: Path  # the folder or archive, for messages
    files: Mapping[str, EncodedImage]
    folders: tuple[str, ...] = ()  # by the same names
    left_out: tuple[LeftOut, ...] = ()  # what could not be looked into, and pictures that are hidden

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
        return self.inside(min(tops, key=len))

    def inside(self, top: str) -> "Tree":
        """Return the part of the tree below a folder, which is given with the slash after it."""
        files = {name.removeprefix(top): file for name, file in self.files.items() if name.startswith(top)}
        folders = tuple(name.removeprefix(top) for name in self.folders if name.startswith(top) and name != top)
        return Tree(self.path, {name: named(file, name) for name, file in files.items()}, folders, self.left_out)

    def _without(self, what: str) -> DataFileError:
        return DataFileError(
            f"Expected {what} in {self.path}, got {len(self.files)} files without it. Download or unpack it again."
        )


def open_tree(path: Path) -> Tree:
    """Return the files of a folder, a zip or a tar archive; hidden files and macOS's extras are left out.

    Links to folders are followed, to each folder once.
    """
    folders: list[str] = []
    left_out: list[LeftOut] = []
    if path.is_dir():
        files = _walk(path, folders, left_out)
    else:
        files, listed = index_zip(path) if path.suffix.lower() == ".zip" else index_tar(path)
        above = {str(parent) for name in files for parent in PurePosixPath(name).parents}
        folders = [name for name in (listed | above) - {"", "."} if not _is_hidden(name)]
    shown = {name: file for name, file in files.items() if not _is_hidden(name)}
    for name, file in files.items():
        folder, _, own = name.rpartition("/")
        if own.startswith(".") and not _is_hidden(folder) and is_picture(file):
            left_out.append(LeftOut(file.place(), "its name begins with a dot"))
    return Tree(path, shown, tuple(sorted(folders)), tuple(sorted(left_out)))


def is_picture(file: EncodedImage) -> bool:
    """Say whether a file is a picture, by its content."""
    try:
        return picture_kind(file.head()) is not None
    except (OSError, AnacpError):  # gone, a pipe, or a link that leads nowhere
        return False


def _walk(top: Path, folders: list[str], left_out: list[LeftOut]) -> dict[str, EncodedImage]:
    """Return the files below a folder; real folders first, so that a link never takes the place of what it leads to."""
    files: dict[str, EncodedImage] = {}
    seen = {os.path.realpath(folder) for folder in (top, *top.resolve().parents)}  # a link back would have no end
    waiting = [top]

    def is_new(folder: Path) -> bool:
        real = os.path.realpath(folder)
        if real in seen:
            left_out.append(LeftOut(str(folder), f"a link to a folder above, or to one that is read already: {real}"))
            return False
        seen.add(real)
        folders.append(folder.relative_to(top).as_posix())
        return True

    while waiting:
        links: list[Path] = []
        for parent, inside, names in os.walk(waiting.pop(0), onerror=lambda problem: _denied(problem, left_out)):
            shown = [Path(parent, name) for name in sorted(inside) if not _is_hidden(name)]
            links += [path for path in shown if path.is_symlink()]
            inside[:] = [path.name for path in shown if not path.is_symlink() and is_new(path)]
            for path in (Path(parent, name) for name in names):
                relative = path.relative_to(top).as_posix()
                files[relative] = ImageFile(path, relative)
        waiting += [link for link in sorted(links) if is_new(link)]
    return files


def _denied(problem: OSError, left_out: list[LeftOut]) -> None:
    left_out.append(LeftOut(str(problem.filename), f"it cannot be looked into ({problem.strerror})"))


def named(file: EncodedImage, name: str) -> EncodedImage:
    """Return the same file under another name."""
    changed: Any = file  # every file here is a dataclass with a name, which the abstract class cannot say
    renamed: EncodedImage = replace(changed, name=name)
    return renamed


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return parts[-1].lower() in SYSTEM_FILES or any(part.startswith(".") or part == "__MACOSX" for part in parts)
