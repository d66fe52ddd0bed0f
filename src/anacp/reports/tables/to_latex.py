"""A table in LaTeX."""

import re
from itertools import groupby

from anacp.reports.tables.table import Cell, Table

__all__ = ["escape", "to_latex"]

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "–": "--",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "→": r"$\rightarrow$",
    "−": r"$-$",
    "Σ": r"$\Sigma$",
    "✓": r"$\checkmark$",
}


def to_latex(table: Table) -> str:
    r"""Return a table environment that needs the packages booktabs, graphicx and amssymb."""
    groups = [(name, len(list(found))) for name, found in groupby(table.columns, key=lambda column: column.group)]
    lines = [
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{escape(table.caption)}}}",
        rf"\label{{tab:{table.id}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in table.columns)}}}",
        r"\toprule",
    ]
    if any(name for name, _ in groups):
        lines.append(_line([rf"\multicolumn{{{span}}}{{c}}{{{escape(name)}}}" for name, span in groups]))
    lines += [_line([escape(column.name) for column in table.columns]), r"\midrule"]
    before = None
    for row in table.rows:
        if before is not None and row.kind != before:
            lines.append(r"\midrule")
        lines.append(_line([_cell(cell) for cell in row.cells]))
        before = row.kind
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}", ""])


def escape(text: str) -> str:
    """Escape what LaTeX would take for a command, in one pass so that nothing is escaped twice."""
    escaped = re.sub("|".join(map(re.escape, SPECIAL)), lambda found: SPECIAL[found.group()], text)
    return re.sub(r"\bA\\_(last|avg|I|0)\b", r"$A_{\\mathrm{\1}}$", escaped)


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    command = {"best": r"\mathbf", "second": r"\underline"}.get(cell.mark)
    if command is None and cell.deviation is None:
        return escape(cell.text)
    text = f"{command}{{{cell.text}}}" if command else cell.text
    return f"${text}$" if cell.deviation is None else f"${text}_{{\\pm {cell.deviation:.2f}}}$"
