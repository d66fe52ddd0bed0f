"""A table with predictions beside what it had."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from anacp import datasets, items


def predicted_table(table: datasets.RowTable, best: Sequence[Sequence[tuple[Any, float | None]]], k: int) -> str:
    """Return the rows as CSV, delimited as they came, with the k likeliest classes of each and their probabilities."""
    numbers = ["", *(f"_{place}" for place in range(2, k + 1))]
    added = [f"{name}{number}" for number in numbers for name in ("prediction", "probability")]
    while set(added) & set(table.columns):  # a table that was predicted before keeps what it says
        added = [f"new_{name}" for name in added]
    written = io.StringIO()
    writer = csv.writer(written, delimiter=table.delimiter, lineterminator="\n")
    writer.writerow([*table.columns, *added])
    for row, ranked in zip(table.rows, best, strict=True):
        cells = [cell for label, p in ranked[:k] for cell in (label, "" if p is None else f"{p:.4f}")]
        had = [_cell(row.values.get(name)) for name in table.columns]
        writer.writerow([*had, *cells, *[""] * (2 * k - len(cells))])
    return written.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, items.LazyImage):  # that is in the table itself
        return value.name
    return "" if value is None else value
