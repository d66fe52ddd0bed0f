"""A known data set: its card, the layouts in which it may lie on disk, and how each is read."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anacp.datasets.dataset import Card, Dataset
from anacp.datasets.tables import find_splits
from anacp.errors import MissingDataError


def data_folder(root: str | Path | None = None) -> Path:
    """Return where data sets are looked for: `root`, else $ANACP_DATA, else ~/.cache/anacp/data."""
    return Path(root or os.environ.get("ANACP_DATA") or "~/.cache/anacp/data").expanduser()


@dataclass(frozen=True)
class SourcePart:
    """One thing that must be there: a folder as unpacked, or one of some files as published."""

    files: tuple[str, ...]
    folder: str | None = None
    marker: str = ""  # a pattern of something in the folder, so that a folder of the same name is not mistaken for it

    def find(self, base: Path) -> Path | None:
        """Return where it is, the unpacked folder first."""
        for folder in [base / self.folder, base] if self.folder else []:
            if any(folder.glob(self.marker)):
                return folder
        return next((base / file for file in self.files if (base / file).is_file()), None)

    def __str__(self) -> str:
        return " or ".join([*self.files, *([f"{self.folder}/"] if self.folder else [])])


@dataclass(frozen=True)
class Layout:
    """Parts that together make a data set, and the reader for them."""

    parts: tuple[SourcePart, ...]
    read: Callable[[Card, Sequence[Path]], Dataset]

    def find(self, base: Path) -> list[Path | None]:
        """Return where each part is."""
        return [part.find(base) for part in self.parts]

    def __str__(self) -> str:
        return " + ".join(map(str, self.parts))


class _Tables(SourcePart):
    def find(self, base: Path) -> Path | None:
        return next((base / sub for sub in (*self.files, ".") if find_splits(base / sub)), None)

    def __str__(self) -> str:
        configuration = f" of its configuration {' or '.join(self.files)}" if self.files else ""
        return f"a Hugging Face copy{configuration} (save_to_disk, or parquet files)"


def tables(read: Callable[[Card, Sequence[Path]], Dataset], *configurations: str) -> Layout:
    """Return the layout of a Hugging Face copy, where one of its configurations may be a folder of its own."""
    return Layout((_Tables(configurations),), read)


@dataclass(frozen=True)
class Found:
    """A data set on disk."""

    layout: Layout
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Source:
    """A known data set. It is looked for in FOLDER/NAME and, under its published file names, in FOLDER itself."""

    card: Card
    layouts: tuple[Layout, ...]
    aliases: tuple[str, ...] = ()
    variant_of: str | None = None  # a variant is looked for where the set that it is a part of lies

    @property
    def folder(self) -> str:
        """The name of its own folder."""
        return self.variant_of or self.card.name

    def find(self, root: Path) -> Found | None:
        """Return where it is, or None."""
        for base in (root / self.folder, root):
            for layout in self.layouts:
                if base == root and isinstance(layout.parts[0], _Tables):
                    continue  # tables do not say whose they are, only their folder does
                paths = [path for path in layout.find(base) if path is not None]
                if len(paths) == len(layout.parts):
                    return Found(layout, tuple(paths))
        return None

    def open(self, root: Path) -> Dataset:
        """Return the data set, or say what to download and where it goes."""
        found = self.find(root)
        if found is None:
            raise MissingDataError(f"Expected {self.card.title} in {root}, got nothing of it. {self.advice(root)}")
        return found.layout.read(self.card, found.paths)

    def advice(self, root: Path) -> str:
        """Return what to download and where it goes; where a part is there already, only what is missing."""
        for base in (root / self.folder, root):
            for layout in self.layouts:
                missing = [part for part, path in zip(layout.parts, layout.find(base), strict=True) if path is None]
                if 0 < len(missing) < len(layout.parts):
                    return f"Part of it is in {base}; add {' and '.join(map(str, missing))} ({self.card.home})."
        layouts = "; or ".join(map(str, self.layouts))
        return (
            f"Download it from {self.card.home} and put into {root / self.folder}: {layouts}. Nothing need be unpacked."
        )
