"""What a model is asked about: texts, image files, lines of standard input, or the rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anacp.datasets.archives import is_archive
from anacp.datasets.columns import Columns
from anacp.datasets.dataset import LeftOut
from anacp.datasets.encodings import decoded
from anacp.datasets.folder import image_tree
from anacp.datasets.labelled import LINES, STANDARD_INPUT, as_path, exists, names_file, standard_input
from anacp.datasets.rows import RowTable, is_table, read_table
from anacp.datasets.texts import source_item
from anacp.errors import DataFileError, InputError, MissingDataError
from anacp.files import MAX_TABLE, read_regular
from anacp.items import ImageFile


@dataclass
class Unlabelled:
    """Items in the order in which they were given, with names to show; None stands for a blank one."""

    names: list[str] = field(default_factory=list)
    items: Any = field(default_factory=list)  # a list, or rows of features
    table: RowTable | None = None  # that all of them are from
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, name: str, item: Any) -> None:
        """Add one more."""
        self.names.append(name)
        self.items.append(item)


def read_unlabelled(inputs: Sequence[str], modality: str, *, columns: Columns | None = None) -> Unlabelled:
    """Return what is asked, row by row, nothing lost: a blank line or cell is an item that is None."""
    found = Unlabelled()
    tables = [source for source in inputs if is_table(source) and (names_file(source) or exists(as_path(source)))]
    if tables:
        if len(inputs) > 1:
            raise InputError(f"Expected one table by itself, got {tables[0]} among {len(inputs)} inputs. Ask for each.")
        return _rows(read_table(as_path(tables[0])), modality, columns or Columns())
    for source in inputs:
        if modality == "image":
            _images(source, found)
        else:
            _texts(source, found)
    return found


def _rows(table: RowTable, modality: str, columns: Columns) -> Unlabelled:
    role, column = columns.source(table.columns, table.place, modality)
    if role != ("path" if modality == "image" else "text"):
        raise DataFileError(
            f"Expected {'paths of images' if modality == 'image' else 'texts'}, which the model was learned with, in "
            f"{table.place}, got the column {column!r} of {role}s. Say which is meant: "
            f"--{'path' if modality == 'image' else 'text'}-column NAME."
        )
    found = Unlabelled(table=table)
    for row in table.rows:
        if row.problem:
            raise DataFileError(
                f"Expected whole rows in {table.place}, got {row.problem} in {table.unit} {row.number}."
            )
        found.add(str(row.values.get(column) or ""), source_item(table, row, role, column)[0])
    return found


def _texts(source: str, found: Unlabelled) -> None:
    path = as_path(source) if names_file(source) else None
    if source == STANDARD_INPUT or (path is not None and path.suffix.lower() == LINES and path.is_file()):
        content = standard_input() if path is None else read_regular(path, MAX_TABLE)
        for line in _lines(content, source):
            found.add(line, line if line.strip() else None)
        return
    if path is not None and not path.exists():
        raise MissingDataError(
            f"Expected a file at {source}, got none. Check the path; if it is a text, give it on standard input (-)."
        )
    if path is not None:
        raise InputError(
            f"Expected texts, which the model was learned with, got a file or folder: {source}. Give texts, a table, "
            "or a .txt file of one text a line."
        )
    found.add(source, source if source.strip() else None)


def _images(source: str, found: Unlabelled) -> None:
    if source == STANDARD_INPUT:
        for line in _lines(standard_input(), "standard input"):
            name = line.strip()
            found.add(name, ImageFile(Path(name).expanduser()) if name else None)
        return
    path = as_path(source)
    if not path.is_dir() and not (path.is_file() and is_archive(path)):
        found.add(str(path), path)
        return
    tree, names, left_out = image_tree(path)
    if not names:
        raise InputError(f"Expected images in the folder {path}, got none.")
    found.left_out += left_out
    for name in names:
        found.add(tree.file(name).place(), tree.file(name))


def _lines(content: bytes, place: str) -> list[str]:
    text, _ = decoded(content, place)
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
