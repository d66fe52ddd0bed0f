"""Any CSV or JSON Lines file of texts and labels."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from anacp.datasets.dataset import Dataset, Examples
from anacp.datasets.splits import divide
from anacp.errors import DataFileError, MissingDataError
from anacp.files import MAX_TABLE, open_regular, parse_json, read_regular
from anacp.labels import label_array
from anacp.names import nearest


def read_texts(path: str | Path, *, test_share: float = 0.2, seed: int = 0) -> Dataset:
    """Return the rows of a CSV (with a header) or JSON Lines file with `text`, `label` and optionally `split`.

    Labels of a CSV file are texts; in JSON Lines whole numbers stay numbers. Without `split`, that share of each class
    is for testing, drawn with (seed, class).
    """
    path = Path(path).expanduser()
    examples, splits = labelled_rows(path)
    return divide(path, examples, splits, modality="text", test_share=test_share, seed=seed)


def labelled_rows(path: Path) -> tuple[Examples, list[str] | None]:
    """Return all rows, and the split of each where the file has that column."""
    if not path.exists():
        raise MissingDataError(f"Expected a CSV or JSON Lines file at {path}, got none.")
    rows = list(_checked(path, _csv(path) if path.suffix.lower() == ".csv" else _json_lines(path)))
    if not rows:
        raise DataFileError(f"Expected rows of text and label in {path}, got none.")
    labels = [row["label"] for row in rows]
    if not all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        labels = [str(label) for label in labels]
    examples = Examples([str(row["text"]) for row in rows], label_array(labels))
    splits = [str(row["split"]) for row in rows] if all("split" in row for row in rows) else None
    return examples, splits


def _csv(path: Path) -> Iterator[Mapping[str, Any]]:
    with open_regular(path) as content, io.TextIOWrapper(content, newline="", encoding="utf-8-sig") as file:
        MAX_TABLE.check(os.fstat(content.fileno()).st_size, str(path))
        try:
            for row in csv.DictReader(file, strict=True):
                yield {key: value for key, value in row.items() if key is not None and value is not None}
        except (csv.Error, UnicodeDecodeError) as problem:
            raise DataFileError(f"Expected a CSV file in UTF-8, got something else: {path} ({problem}).") from problem


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(read_regular(path, MAX_TABLE).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as problem:
            raise DataFileError(f"Expected a JSON object in line {number} of {path}, got {problem}.") from problem
        if not isinstance(row, dict):
            raise DataFileError(f"Expected a JSON object in line {number} of {path}, got {type(row).__name__}.")
        yield row


def _checked(path: Path, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(rows, start=1):
        for wanted in ("text", "label"):
            if wanted not in row:
                near = nearest(wanted, row)
                hint = f"Rename the column {near!r} to {wanted!r}." if near else f"Name a column {wanted!r}."
                raise DataFileError(f"Expected a {wanted} in row {number} of {path}, got {', '.join(row)}. {hint}")
        yield row
