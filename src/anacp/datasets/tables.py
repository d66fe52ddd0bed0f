"""Copies as the Hugging Face `datasets` library stores them: `save_to_disk` folders and parquet files.

Both are Arrow tables, so pyarrow alone reads them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.datasets.archives import broken
from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.errors import DataFileError
from anacp.extras import require
from anacp.files import open_regular, parse_json, read_json
from anacp.items import EncodedImage, ImageFile

LABELS = ("fine_label", "label", "labels", "class", "wnid")
SPLIT_OF_FILE = re.compile(r"(train|test|validation|valid|val|dev)\b")


def find_splits(folder: Path) -> dict[str, list[Path]]:
    """Return the table files in a folder by split; empty where there are none.

    In a `save_to_disk` folder the splits are listed or there is one; parquet files carry theirs in their name
    (train-00000-of-00002.parquet) or in the name of their folder (train/0000.parquet).
    """
    if (folder / "dataset_dict.json").is_file():
        splits = _stated(folder / "dataset_dict.json").get("splits")
        if not isinstance(splits, list) or not all(isinstance(split, str) for split in splits):
            raise DataFileError(
                f"Expected a list of splits in {folder / 'dataset_dict.json'}, got none. Copy it again."
            )
        return {split: sorted((folder / split).glob("*.arrow")) for split in splits}
    if (folder / "state.json").is_file():
        split = str(_stated(folder / "state.json").get("_split") or "train")
        return {split: sorted(folder.glob("*.arrow"))}
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.parquet")):
        match = SPLIT_OF_FILE.match(path.stem) or SPLIT_OF_FILE.match(path.parent.name)
        if match:
            found.setdefault(match[1], []).append(path)
    return found


def open_split(folder: Path, *names: str) -> "ArrowTable":
    """Return the first of these splits that the folder has."""
    splits = find_splits(folder)
    for name in names:
        if splits.get(name):
            return ArrowTable(name, tuple(splits[name]))
    raise DataFileError(f"Expected a split named {' or '.join(names)} in {folder}, got {', '.join(splits) or 'none'}.")


def read_image_tables(
    card: Card, paths: Sequence[Path], *, test: Sequence[str] = ("test",), numbered: bool = False
) -> Dataset:
    """Return the data set of a copy with one table for training and one for testing."""

    def examples(*names: str) -> Examples:
        table = open_split(paths[0], *names)
        labels = table.labels(table.choose(*LABELS), numbered=numbered)
        return Examples(table.images(table.choose("image", "img")), labels)

    return Dataset(card.name, "image", examples("train"), examples(*test), card)


@dataclass(frozen=True)
class ArrowTable:
    """The files of one split, read as one table."""

    split: str
    files: tuple[Path, ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(_schema(self.files[0]).names)

    def choose(self, *candidates: str) -> str:
        """Return the first of these columns that exists."""
        for name in candidates:
            if name in self.columns:
                return name
        raise DataFileError(
            f"Expected a column named {' or '.join(candidates)} in {self.files[0]}, got {', '.join(self.columns)}."
        )

    def values(self, column: str) -> list[Any]:
        """Return a whole column."""
        return [value for path in self.files for value in _column(path, column).to_pylist()]

    def matrix(self, columns: Sequence[str]) -> NDArray[Any]:
        """Return numeric columns side by side, or the rows of one column of lists that are all of one length."""
        parts = [[_column(path, name).combine_chunks() for name in columns] for path in self.files]
        if len(columns) == 1 and hasattr(parts[0][0], "flatten") and hasattr(parts[0][0].type, "value_type"):
            return np.concatenate([_rows_of_lists(path, part[0]) for path, part in zip(self.files, parts, strict=True)])
        return np.concatenate([np.column_stack([np.asarray(column) for column in part]) for part in parts])

    def labels(self, column: str, *, numbered: bool = False) -> NDArray[Any]:
        """Return a column of labels: class names where the file knows them, else what is there.

        With `numbered` each name starts with its number from 001, so that sorted names are in the published order.
        """
        values, names = self.values(column), _class_names(self.files[0], column)
        if names is None:
            return np.asarray(values)
        if not all(value is not None and 0 <= value < len(names) for value in values):
            raise DataFileError(
                f"Expected class numbers from 0 to {len(names) - 1} in the column {column} of {self.files[0]}, got "
                "others (-1 stands for a label that was not published)."
            )
        if numbered:
            names = [name if name[:3].isdigit() else f"{i:03}.{name}" for i, name in enumerate(names, start=1)]
        return np.asarray(names)[np.asarray(values, np.intp)]

    def names_classes(self, column: str) -> bool:
        """Say whether a column has numbers of classes, and the file their names."""
        return _class_names(self.files[0], column) is not None

    def holds_images(self, column: str) -> bool:
        """Say whether a column has encoded files: as they are, or beside the paths that they came from."""
        kind, types = _schema(self.files[0]).field(column).type, _arrow().types
        fields = [kind.field(place).name for place in range(kind.num_fields)] if types.is_struct(kind) else []
        return bool(types.is_binary(kind) or types.is_large_binary(kind) or "bytes" in fields)

    def images(self, column: str) -> list["TableImage"]:
        """Return references to the images of a column, named by their stored paths where these tell them apart."""
        stored = [path for file in self.files for path in _stored_paths(file, column)]
        if None in stored or len(set(stored)) < len(stored):
            stored = [f"{row:06}" for row in range(len(stored))]
        names = iter(stored)
        return [
            TableImage(path, column, block, row, f"{self.split}/{next(names)}")
            for path in self.files
            for block, length in enumerate(_lengths(path))
            for row in range(length)
        ]


@dataclass(frozen=True)
class TableImage(EncodedImage):
    """An image in a column of an Arrow or parquet file."""

    path: Path
    column: str
    block: int
    row: int
    name: str

    def read(self) -> bytes:
        """Return the encoded file."""
        value = _block(self.path, self.column, self.block)[self.row].as_py()
        if isinstance(value, dict) and value.get("bytes") is None and value.get("path"):
            return ImageFile(self.path.parent / value["path"]).read()
        content = value["bytes"] if isinstance(value, dict) else value
        if not isinstance(content, bytes):
            raise DataFileError(f"Expected an encoded image, got {type(content).__name__}: {self.place()}.")
        return content

    def place(self) -> str:
        """Return the file, column and row."""
        return f"row {self.row} of block {self.block}, column {self.column}, in {self.path}"


def _open(path: Path) -> Any:
    """Return a parquet file, or the memory-mapped table of an Arrow stream."""
    arrow = _arrow()
    try:
        open_regular(path).close()
        if path.suffix == ".parquet":
            return require("pyarrow.parquet", extra="parquet", purpose="Reading a parquet file").ParquetFile(path)
        return arrow.ipc.open_stream(arrow.memory_map(str(path))).read_all()
    except (arrow.ArrowInvalid, OSError) as problem:
        raise broken(path, str(problem)) from problem


def _arrow() -> Any:
    return require("pyarrow", extra="parquet", purpose="Reading Arrow and parquet files")


def _schema(path: Path) -> Any:
    return _open(path).schema_arrow if path.suffix == ".parquet" else _open(path).schema


def _lengths(path: Path) -> list[int]:
    file = _open(path)
    if path.suffix == ".parquet":
        return [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    return [len(file)]


@lru_cache(maxsize=2)  # a block of images is some tens of megabytes; rows are mostly read in order
def _block(path: Path, column: str, block: int | None) -> Any:
    """Return one column of one row group; of the whole file where there are none."""
    file, arrow = _open(path), _arrow()
    try:
        if path.suffix == ".parquet":
            file = file.read(columns=[column]) if block is None else file.read_row_group(block, columns=[column])
        return file[column.split(".")[0]]
    except (arrow.ArrowInvalid, OSError) as problem:
        raise broken(path, str(problem)) from problem


def _column(path: Path, column: str) -> Any:
    return _block.__wrapped__(path, column, None)  # read once and not kept


def _stored_paths(path: Path, column: str) -> list[str | None]:
    kind = _schema(path).field(column).type
    if not hasattr(kind, "names") or "path" not in kind.names:
        return [None] * sum(_lengths(path))
    if path.suffix == ".parquet":  # the paths alone, without the images beside them
        return [value["path"] for value in _column(path, f"{column}.path").to_pylist()]
    arrow: Any = require("pyarrow.compute", extra="parquet", purpose="Reading image names")
    stored: list[str | None] = arrow.struct_field(_column(path, column), "path").to_pylist()
    return stored


def _rows_of_lists(path: Path, column: Any) -> NDArray[Any]:
    lengths = set(
        require("pyarrow.compute", extra="parquet", purpose="Reading lists").list_value_length(column).to_pylist()
    )
    if len(lengths) != 1 or None in lengths:
        raise DataFileError(f"Expected lists of one length in {path}, got lengths {sorted(map(str, lengths))[:5]}.")
    return np.asarray(column.flatten()).reshape(len(column), -1)


def _class_names(path: Path, column: str) -> list[str] | None:
    """Return the names that the datasets library keeps for a column of class numbers."""
    metadata = _schema(path).metadata or {}
    beside = path.parent / "dataset_info.json"
    try:
        features = parse_json(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
        if not features and beside.is_file():
            features = read_json(beside).get("features") or {}
        names = features.get(column, {}).get("names")
        if isinstance(names, dict):
            names = [names[number] for number in sorted(names, key=int)]
        return None if names is None else [str(name) for name in names]
    except (ValueError, AttributeError, TypeError) as problem:
        raise DataFileError(
            f"Expected class names as the datasets library keeps them, in {path} or beside it, got others ({problem}). "
            "Copy it again."
        ) from problem


def _stated(path: Path) -> dict[str, Any]:
    stated = read_json(path)
    return stated if isinstance(stated, dict) else {}
