"""Tables as people keep them, row by row: CSV of any delimiter and encoding, JSON, Excel and parquet."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anacp.datasets.encodings import decoded
from anacp.datasets.tables import ArrowTable
from anacp.errors import DataFileError, MissingDataError
from anacp.extras import require
from anacp.files import MAX_EXPANDED, MAX_TABLE, open_regular, parse_json, read_regular

DELIMITERS = (",", ";", "\t")
TRIED = 1 << 16  # characters in which a header ends


@dataclass(frozen=True)
class Row:
    """One row: where it is, what is in it, and what is wrong with its form."""

    number: int
    values: Mapping[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class RowTable:
    """A whole table in memory."""

    place: str  # for messages
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    unit: str = "row"  # what the numbers of its rows count: lines of a file, or rows
    delimiter: str = ","
    note: str = ""  # what had to be guessed


def is_table(path: str | Path) -> bool:
    """Say whether a path names a table, by its ending."""
    return Path(path).suffix.lower() in _READERS


def read_table(path: Path) -> RowTable:
    """Return the rows of a .csv, .tsv, .json, .jsonl, .xlsx or .parquet file."""
    if not path.is_file():
        raise MissingDataError(f"Expected a table at {path}, got no file.")
    return _READERS[path.suffix.lower()](path)


def parse_table(content: bytes, place: str) -> RowTable:
    """Return the rows of a table that comes without a name: JSON or JSON Lines by how it begins, else a CSV."""
    MAX_TABLE.check(len(content), place)
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return _json(content, place) if start == b"[" else _lines(content, place) if start == b"{" else _csv(content, place)


def _csv(content: bytes, place: str, delimiters: tuple[str, ...] = DELIMITERS) -> RowTable:
    text, note = decoded(content, place)
    delimiter = max(delimiters, key=lambda one: len(_header(text[:TRIED], one)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] | None = None
    rows, line = [], 0
    try:
        for cells in reader:
            line, start = reader.line_num, line + 1
            if columns is None:
                columns = tuple(cell.strip() for cell in cells) if any(cells) else None
            elif cells or len(columns) == 1:  # a blank line is a row only where it may be a blank cell
                rows.append(_csv_row(start, columns, cells))
    except csv.Error as problem:
        raise DataFileError(
            f"Expected a CSV file, got something else in line {reader.line_num} of {place} ({problem}). Put texts with "
            "quotes into quotes, and double those inside."
        ) from problem
    return RowTable(place, columns or (), tuple(rows), "line", delimiter, note)


def _csv_row(number: int, columns: tuple[str, ...], cells: list[str]) -> Row:
    extra = len(cells) - len(columns)
    problem = f"{extra + len(columns)} cells for {len(columns)} columns: put a text with commas into quotes"
    values = dict(zip(reversed(columns), reversed((cells + [""] * -extra)[: len(columns)]), strict=True))
    return Row(number, values, problem if extra > 0 else "")


def _header(text: str, delimiter: str) -> list[str]:
    """Return the first row that is not blank."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return next((cells for cells in reader if any(cells)), [])
    except csv.Error:
        return []


def _lines(content: bytes, place: str) -> RowTable:
    text, note = decoded(content, place)
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                rows.append((number, parse_json(line)))
            except ValueError as problem:
                raise DataFileError(f"Expected a JSON object in line {number} of {place}, got {problem}.") from problem
    return _of_objects(place, rows, "line", note)


def _json(content: bytes, place: str) -> RowTable:
    text, note = decoded(content, place)
    try:
        found = parse_json(text)
    except ValueError as problem:
        raise DataFileError(
            f"Expected a JSON file, got one that is truncated or of another kind: {place} ({problem}). Make it anew."
        ) from problem
    if isinstance(found, dict) and found and all(isinstance(column, list) for column in found.values()):
        if len({len(column) for column in found.values()}) > 1:
            raise DataFileError(f"Expected columns of one length in {place}, got others. Make it anew.")
        found = [dict(zip(found, cells, strict=True)) for cells in zip(*found.values(), strict=True)]
    if not isinstance(found, list):
        raise DataFileError(
            f"Expected a list of objects in {place}, such as [{{'text': …, 'label': …}}], got {type(found).__name__}."
        )
    return _of_objects(place, list(enumerate(found, start=1)), "entry", note)


def _of_objects(place: str, found: Iterable[tuple[int, Any]], unit: str, note: str) -> RowTable:
    columns: dict[str, None] = {}
    rows = []
    for number, row in found:
        if not isinstance(row, dict):
            raise DataFileError(f"Expected a JSON object in {unit} {number} of {place}, got {type(row).__name__}.")
        columns |= dict.fromkeys(row)
        rows.append(Row(number, row))
    return RowTable(place, tuple(columns), tuple(rows), unit, note=note)


def _excel(path: Path) -> RowTable:
    openpyxl = require("openpyxl", extra="excel", purpose="Reading an Excel file")
    try:
        with open_regular(path) as file:
            with zipfile.ZipFile(file) as archive:
                grown = sum(member.file_size for member in archive.infolist())
            MAX_EXPANDED.check_growth(grown, path.stat().st_size, f"what {path} grows to")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            cells = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, TypeError, SyntaxError) as problem:
        if isinstance(problem, DataFileError):
            raise
        raise DataFileError(
            f"Expected an Excel file (.xlsx), got one that is damaged or of another kind: {path} ({problem}). "
            "Save it again, or as CSV."
        ) from problem
    head = next((place for place, row in enumerate(cells) if any(cell is not None for cell in row)), None)
    if head is None:
        return RowTable(str(path), (), ())
    columns = tuple("" if cell is None else str(cell).strip() for cell in cells[head])
    rows = [
        Row(number, dict(zip(reversed(columns), reversed(row), strict=True)))
        for number, row in enumerate(cells[head + 1 :], start=head + 2)
        if any(cell is not None for cell in row)
    ]
    return RowTable(str(path), columns, tuple(rows))


def _parquet(path: Path) -> RowTable:
    table = ArrowTable(path.stem, (path,))
    columns = tuple(table.columns)
    rows = zip(*(_cells(table, name) for name in columns), strict=True)
    return RowTable(
        str(path),
        columns,
        tuple(Row(number, dict(zip(columns, row, strict=True))) for number, row in enumerate(rows, start=1)),
    )


def _cells(table: ArrowTable, column: str) -> Sequence[Any]:
    """Return a column: pictures unread, class numbers as the names they stand for, anything else as it is."""
    if table.holds_images(column):
        return table.images(column)
    cells: list[Any] = table.labels(column).tolist() if table.names_classes(column) else table.values(column)
    return cells


def _of_bytes(read: Callable[[bytes, str], RowTable]) -> Callable[[Path], RowTable]:
    return lambda path: read(read_regular(path, MAX_TABLE), str(path))


_READERS: dict[str, Callable[[Path], RowTable]] = {
    ".csv": _of_bytes(_csv),
    ".tsv": _of_bytes(lambda content, place: _csv(content, place, ("\t", ",", ";"))),
    ".json": _of_bytes(_json),
    ".jsonl": _of_bytes(_lines),
    ".ndjson": _of_bytes(_lines),
    ".parquet": _parquet,
    ".xlsx": _excel,
}
