"""A table in HTML."""

import re
from html import escape
from itertools import groupby

from anacp.reports.tables.table import Cell, Row, Table

__all__ = ["to_html"]


def to_html(table: Table) -> str:
    """Return a figure with its caption and the table in a box of its own, so that the page never scrolls sideways."""
    rows, before = [], None
    for row in table.rows:
        rows.append(_row(row, table, rule=before is not None and row.kind != before))
        before = row.kind
    name = escape(table.id)
    return (
        f'<figure id="{name}" class="table">\n<figcaption id="{name}-caption">{_text(table.caption)}</figcaption>\n'
        f'<div class="scroll" role="region" aria-labelledby="{name}-caption" tabindex="0">\n'
        f"<table>\n<thead>\n{_head(table)}</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n</figure>\n"
    )


def _head(table: Table) -> str:
    groups = [(name, len(list(found))) for name, found in groupby(table.columns, key=lambda column: column.group)]
    lines = []
    if any(name for name, _ in groups):
        cells = [
            f'<th colspan="{span}" scope="colgroup" class="group">{_text(name)}</th>'
            if name
            else f'<td colspan="{span}"></td>'
            for name, span in groups
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>\n")
    names = [
        f'<th scope="col"{_class(column.numeric, table.columns[i - 1].group != column.group if i else False)}>'
        f"{_text(column.name)}</th>"
        for i, column in enumerate(table.columns)
    ]
    return "".join([*lines, f"<tr>{''.join(names)}</tr>\n"])


def _row(row: Row, table: Table, *, rule: bool) -> str:
    cells = []
    for i, (cell, column) in enumerate(zip(row.cells, table.columns, strict=True)):
        if i == 0:
            cells.append(f'<th scope="row">{_text(cell.text)}</th>')
        else:
            starts = table.columns[i - 1].group != column.group
            cells.append(f"<td{_class(column.numeric, starts)}>{_cell(cell)}</td>")
    kinds = " ".join(filter(None, (row.kind, "rule" if rule else "")))
    return f"<tr{f' class={chr(34)}{kinds}{chr(34)}' if kinds else ''}>{''.join(cells)}</tr>\n"


def _class(numeric: bool, starts_group: bool) -> str:
    names = " ".join(filter(None, ("number" if numeric else "", "start" if starts_group else "")))
    return f' class="{names}"' if names else ""


def _cell(cell: Cell) -> str:
    tag = {"best": "b", "second": "u"}.get(cell.mark)
    shown = _text(cell.text.replace("-", "−", 1) if cell.value is not None and cell.value < 0 else cell.text)
    text = f"<{tag}>{shown}</{tag}>" if tag else shown
    return text if cell.deviation is None else f'{text}<span class="deviation"> ± {cell.deviation:.2f}</span>'


def _text(text: str) -> str:
    return re.sub(r"\bA_(last|avg|I|0)\b", r"A<sub>\1</sub>", escape(text))
