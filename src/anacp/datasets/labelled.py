"""Labelled examples as a user has them, all of them: nothing is set aside for testing, and nothing vanishes unsaid."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from anacp.datasets.archives import ARCHIVE_SUFFIXES, is_archive
from anacp.datasets.columns import Columns
from anacp.datasets.dataset import Labelled, LeftOut
from anacp.datasets.encodings import decoded
from anacp.datasets.folder import IMAGE_SUFFIXES
from anacp.datasets.labelled_trees import chosen_split, labelled_tree
from anacp.datasets.rows import RowTable, is_table, parse_table, read_table
from anacp.datasets.texts import labelled_rows
from anacp.datasets.trees import is_picture, open_tree
from anacp.datasets.webdataset import is_webdataset, read_webdataset
from anacp.errors import DataFileError, InputError, MissingDataError
from anacp.files import MAX_TABLE, read_regular
from anacp.items import ImageFile, OnError
from anacp.labels import label_array
from anacp.words import LONGEST_PLACE, listed

STANDARD_INPUT = "-"
LINES = ".txt"  # a file of one text a line


def read_labelled(
    *sources: str | Path,
    label: str | None = None,
    split: str | None = None,
    on_error: OnError = "refuse",
    strict: bool = False,
    columns: Columns | None = None,
    modality: str | None = None,
) -> Labelled:
    """Return all labelled examples of some sources, and what was left out of them, with the reason.

    Parameters
    ----------
    *sources : str or path
        Each is a folder or archive of class folders of images; a WebDataset archive (.tar); the folder of one class,
        whose name is the label; a table (.csv, .tsv, .json, .jsonl, .xlsx, .parquet) of texts or of paths of images,
        with labels; "-" for such a table from standard input; or, with `label`, an image file, a text, a .txt file or
        standard input of one text a line. Whether a file is an image is decided by its content.
    label : str, optional
        The class of everything that is given.
    split : str, optional
        Where there are splits (folders train/ and test/ or val/ and nothing else, or a column `split`): which one,
        or "all". It must be chosen there, so that no test example is learned by accident.
    on_error : {"refuse", "skip"}
        What to do with rows without label or text; those skipped are in the result.
    strict : bool
        Refuse whatever would be left out.
    columns : Columns, optional
        Which columns of tables are meant, where they have other than the usual names.
    modality : {"image", "text"}, optional
        What is expected, where that is known.
    """
    if label is not None and not label.strip():
        raise InputError("Expected a label, got a blank one. Give a class a name.")
    if not sources:
        raise InputError("Expected examples, got none. Give a folder, a table, or files with a label.")
    asked = _Asked(label, split, on_error, columns or Columns(), modality)
    parts = [asked.read(source) for source in sources]
    kinds = {part.modality for part in parts}
    if len(kinds) > 1:
        raise InputError("Expected images or texts, got both. Learn them one after the other, into two models.")
    joined = _joined(parts)
    if strict and joined.left_out:
        shown = listed(joined.left_out, 10, show="{0.place} ({0.reason})".format, longest=LONGEST_PLACE)
        raise InputError(
            f"Expected examples and nothing else, got {len(joined.left_out):,} that are left out: {shown}. "
            "Move them away, or go without --strict."
        )
    return joined


class _Asked:
    """One source after the other, read as was asked for."""

    def __init__(
        self, label: str | None, split: str | None, on_error: OnError, columns: Columns, modality: str | None
    ) -> None:
        self._label, self._split, self._on_error = label, split, on_error
        self._columns, self._modality = columns, modality

    def read(self, source: str | Path) -> Labelled:
        """Return the examples of one source."""
        if source == STANDARD_INPUT:
            content = standard_input()
            return self._lines(content, "standard input") if self._label else self._table(_from(content))
        path = as_path(source)
        if is_table(path) and (exists(path) or names_file(source)):
            return self._table(read_table(path))
        if exists(path):
            return self._existing(path)
        if self._label is None or isinstance(source, Path) or names_file(source) or self._modality == "image":
            hint = "" if self._label or self._modality == "image" else " For a text, say its class: --label NAME."
            raise MissingDataError(
                f"Expected a folder, an archive, a table or a file at {source}, got none. Check the path.{hint}"
            )
        return self._of_texts([source], [])

    def _existing(self, path: Path) -> Labelled:
        if path.is_dir() or is_archive(path):
            tree = open_tree(path) if path.is_file() else None
            if tree is not None and is_webdataset(tree):
                return read_webdataset(tree, self._label, self._on_error)
            return labelled_tree(path, self._label, self._split)
        if path.suffix.lower() == LINES and self._label is not None and self._modality != "image":
            return self._lines(read_regular(path, MAX_TABLE), str(path))
        file = ImageFile(path)
        if not path.name.lower().endswith(IMAGE_SUFFIXES) and not is_picture(file):
            raise DataFileError(
                f"Expected a folder, an archive, a table or a picture, got something else: {path}. Tables end in .csv, "
                ".tsv, .json, .jsonl, .xlsx or .parquet."
            )
        if self._label is None:
            folder = path.resolve().parent.name
            raise InputError(f"Expected the class of {path}, got none. Say it, such as --label {folder or 'NAME'}.")
        return Labelled([file], label_array([self._label]))

    def _table(self, table: RowTable) -> Labelled:
        found = labelled_rows(table, self._columns, label=self._label, on_error=self._on_error, modality=self._modality)
        part = Labelled(
            found.items,
            label_array(found.labels),
            found.modality,
            tuple(found.left_out),
            (table.note,) if table.note else (),
        )
        chosen = chosen_split(table.place, self._split, set(found.splits or ()))
        return _taken(part, np.array(found.splits) == chosen) if chosen else part

    def _lines(self, content: bytes, place: str) -> Labelled:
        text, _ = decoded(content, place)
        lines = text.splitlines()
        blank = [number for number, line in enumerate(lines, start=1) if not line.strip()]
        left_out = [LeftOut(f"line {number} of {place}", "blank") for number in blank]
        given = [line for line in lines if line.strip()]
        if not given:
            raise InputError(f"Expected lines in {place}, got none but blank ones.")
        if self._modality == "image":
            files = [ImageFile(Path(line.strip()).expanduser()) for line in given]
            return Labelled(files, label_array([str(self._label)] * len(files)), "image", tuple(left_out))
        return self._of_texts(given, left_out)

    def _of_texts(self, texts: Sequence[Any], left_out: Sequence[LeftOut]) -> Labelled:
        if not all(text.strip() for text in texts):
            raise InputError("Expected a text, got a blank one. Leave it out.")
        return Labelled(list(texts), label_array([str(self._label)] * len(texts)), "text", tuple(left_out))


def names_file(source: str | Path) -> bool:
    """Say whether a text that names nothing on disk was meant as the name of a file."""
    text = str(source)
    return not any(letter.isspace() for letter in text) and (
        text.endswith("/") or is_table(text) or text.lower().endswith((*IMAGE_SUFFIXES, *ARCHIVE_SUFFIXES, LINES))
    )


def standard_input() -> bytes:
    """Return all bytes of standard input."""
    return sys.stdin.buffer.read()


def _from(content: bytes) -> RowTable:
    if not content.strip():
        raise InputError("Expected a table on standard input, got nothing.")
    return parse_table(content, "standard input")


def as_path(source: str | Path) -> Path:
    """Return a path, in the home of whoever it names; a text that begins with ~ names nobody."""
    try:
        return Path(source).expanduser()
    except RuntimeError:
        return Path(source)


def exists(path: Path) -> bool:
    """Say whether something is there; a text can be too long for a name."""
    try:
        return path.exists()
    except OSError:
        return False


def _joined(parts: Sequence[Labelled]) -> Labelled:
    if len(parts) == 1:
        return parts[0]
    labels: list[Any] = [label for part in parts for label in part.labels.tolist()]
    if len({isinstance(label, str) for label in labels}) > 1:
        labels = [str(label) for label in labels]
    items: list[Any] = [item for part in parts for item in part.items]
    left_out = tuple(one for part in parts for one in part.left_out)
    modality: Literal["image", "text", "features"] = parts[0].modality
    return Labelled(
        items, label_array(labels), modality, left_out, tuple(note for part in parts for note in part.notes)
    )


def _taken(part: Labelled, rows: Any) -> Labelled:
    some = part.take(rows)
    return Labelled(some.items, some.labels, part.modality, part.left_out, part.notes)
