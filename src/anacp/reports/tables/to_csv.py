"""A table in CSV."""

import csv
import io

from anacp.reports.tables.table import MISSING, Cell, Table

__all__ = ["to_csv"]


def to_csv(table: Table) -> str:
    """Return the numbers unrounded, a deviation in a column of its own, and nothing where nothing is known."""
    spread = [any(row.cells[i].deviation is not None for row in table.rows) for i in range(len(table.columns))]
    heads: list[str] = []
    for column, wide in zip(table.columns, spread, strict=True):
        name = f"{column.group}: {column.name}" if column.group else column.name
        heads += [name, f"{name} std"] if wide else [name]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(heads)
    for row in table.rows:
        entries: list[object] = []
        for cell, wide in zip(row.cells, spread, strict=True):
            entries += [_value(cell), "" if cell.deviation is None else cell.deviation] if wide else [_value(cell)]
        writer.writerow(entries)
    return written.getvalue()


def _value(cell: Cell) -> object:
    if cell.value is not None:
        return cell.value
    return "" if cell.text == MISSING else cell.text
