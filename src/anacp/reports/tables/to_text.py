"""A table in Markdown and in CSV."""

import csv
import io

from anacp.reports.tables.table import MISSING, Table, TableCell


def to_markdown(table: Table) -> str:
    """Return the caption and a pipe table; the best number is bold, the second underlined."""
    heads = [plain(column.head) for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    lines = [heads, rules, *([_cell(cell) for cell in row.cells] for row in table.rows)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{plain(table.caption)}\n\n{body}\n"


def plain(text: str) -> str:
    """Escape what Markdown would take for markup."""
    for mark in "\\`*_[]<>|":
        text = text.replace(mark, {"<": "&lt;", ">": "&gt;"}.get(mark, f"\\{mark}"))
    return " ".join(text.split())


def _cell(cell: TableCell) -> str:
    before, after = {"best": ("**", "**"), "second": ("<u>", "</u>")}.get(cell.mark, ("", ""))
    text = f"{before}{plain(cell.text)}{after}"
    return text if cell.deviation is None else f"{text} ± {cell.deviation:.2f}"


def to_csv(table: Table) -> str:
    """Return the numbers unrounded, a deviation in a column of its own, and nothing where nothing is known."""
    spread = [any(row.cells[i].deviation is not None for row in table.rows) for i in range(len(table.columns))]
    lines: list[list[object]] = [[]]
    for column, wide in zip(table.columns, spread, strict=True):
        lines[0] += [column.head, f"{column.head} std"] if wide else [column.head]
    for row in table.rows:
        lines.append([])
        for cell, wide in zip(row.cells, spread, strict=True):
            said = "" if cell.text == MISSING else cell.text
            lines[-1] += [said if cell.value is None else cell.value, *([cell.deviation] if wide else [])]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(lines)
    return written.getvalue()
