"""A table in HTML."""

import re
from html import escape

from anacp.reports.tables.table import Table, TableCell, TableRow

MOST_SPACIOUS = 12  # columns; more of them stand closer, each deviation below its number


def to_html(table: Table) -> str:
    """Return a figure with its caption and the table in a box of its own, so that the page never scrolls sideways."""
    rows = [_row(row, table, rule=rule) for row, rule in table.ruled()]
    name = escape(table.id)
    dense = ' class="dense"' if len(table.columns) > MOST_SPACIOUS else ""
    return (
        f'<figure id="{name}" class="table">\n<figcaption id="{name}-caption">{_text(table.caption)}</figcaption>\n'
        f'<div class="scroll" role="region" aria-labelledby="{name}-caption" tabindex="0">\n'
        f"<table{dense}>\n<thead>\n{_head(table)}</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n</figure>\n"
    )


def _head(table: Table) -> str:
    groups = "".join(
        f'<th colspan="{span}" scope="colgroup" class="group">{_text(name)}</th>'
        if name
        else f'<td colspan="{span}"></td>'
        for name, span in table.groups()
    )
    names = "".join(
        f'<th scope="col"{_class(table, i)}>{_text(column.name)}</th>' for i, column in enumerate(table.columns)
    )
    return (f"<tr>{groups}</tr>\n" if groups else "") + f"<tr>{names}</tr>\n"


def _row(row: TableRow, table: Table, *, rule: bool) -> str:
    first, *others = row.cells
    cells = [f'<th scope="row">{_text(first.text)}</th>']
    cells += [f"<td{_class(table, i)}>{_cell(cell)}</td>" for i, cell in enumerate(others, 1)]
    kinds = " ".join(filter(None, (row.kind, "rule" if rule else "")))
    return f"<tr{f' class={chr(34)}{kinds}{chr(34)}' if kinds else ''}>{''.join(cells)}</tr>\n"


def _class(table: Table, index: int) -> str:
    column = table.columns[index]
    starts_group = index > 0 and table.columns[index - 1].group != column.group
    kinds = {"number": column.numeric, "wide": column.wide, "start": starts_group}
    names = " ".join(kind for kind, applies in kinds.items() if applies)
    return f' class="{names}"' if names else ""


def _cell(cell: TableCell) -> str:
    tag = {"best": "b", "second": "u"}.get(cell.mark)
    shown = _text(cell.text.replace("-", "−", 1) if cell.value is not None and cell.value < 0 else cell.text)
    text = f"<{tag}>{shown}</{tag}>" if tag else shown
    return text if cell.deviation is None else f'{text}<span class="deviation"> ± {cell.deviation:.2f}</span>'


def _text(text: str) -> str:
    return re.sub(r"\bA_(last|avg|I|0)\b", r"A<sub>\1</sub>", escape(text))
