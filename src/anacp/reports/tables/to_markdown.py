"""A table in Markdown."""

from anacp.reports.tables.table import Cell, Table

__all__ = ["plain", "to_markdown"]


def to_markdown(table: Table) -> str:
    """Return the caption and a pipe table; the best number is bold, the second underlined."""
    heads = [f"{column.group}: {column.name}" if column.group else column.name for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    lines = [heads, rules, *([_cell(cell) for cell in row.cells] for row in table.rows)]
    shown = [line if line is rules else [plain(entry) if line is heads else entry for entry in line] for line in lines]
    body = "\n".join(f"| {' | '.join(line)} |" for line in shown)
    return f"{plain(table.caption)}\n\n{body}\n"


def plain(text: str) -> str:
    """Escape what Markdown would take for markup."""
    for mark in "\\`*_[]<>|":
        text = text.replace(mark, {"<": "&lt;", ">": "&gt;"}.get(mark, f"\\{mark}"))
    return " ".join(text.split())


def _cell(cell: Cell) -> str:
    before, after = {"best": ("**", "**"), "second": ("<u>", "</u>")}.get(cell.mark, ("", ""))
    text = f"{before}{plain(cell.text)}{after}"
    return text if cell.deviation is None else f"{text} ± {cell.deviation:.2f}"
