"""A table in LaTeX."""

import re

from anacp.reports.tables.table import Table, TableCell, TableColumn

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
    "Σ_y": r"$\Sigma_y$",
    "Σ": r"$\Sigma$",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "✓": r"$\checkmark$",
}


def to_latex(table: Table) -> str:
    r"""Return a table environment that needs the packages booktabs, graphicx and amssymb."""
    lines = [
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{escape(table.caption)}}}",
        rf"\label{{tab:{table.id}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{''.join(map(_kind, table.columns))}}}",
        r"\toprule",
    ]
    if groups := table.groups():
        lines.append(_line([rf"\multicolumn{{{span}}}{{c}}{{{escape(name)}}}" for name, span in groups]))
    lines += [_line([escape(column.name) for column in table.columns]), r"\midrule"]
    for row, rule in table.ruled():
        lines += [r"\midrule"] if rule else []
        lines.append(_line([_cell(cell) for cell in row.cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}", ""])


def escape(text: str) -> str:
    """Escape what LaTeX would take for a command, in one pass so that nothing is escaped twice.

    A letter that its fonts lack is written as its number.
    """

    def escaped(found: re.Match[str]) -> str:
        return SPECIAL.get(found.group(), f"U+{ord(found.group()[0]):04X}")

    text = re.sub(f"{'|'.join(map(re.escape, SPECIAL))}|[^ -~¡-ÿ]", escaped, " ".join(text.split()))
    return re.sub(r"\bA\\_(last|avg|I|0)\b", r"$A_{\\mathrm{\1}}$", text)


def _kind(column: TableColumn) -> str:
    return r"p{0.7\linewidth}" if column.wide else "r" if column.numeric else "l"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: TableCell) -> str:
    command = {"best": r"\mathbf", "second": r"\underline"}.get(cell.mark)
    if command is None and cell.deviation is None:
        return escape(cell.text)
    text = f"{command}{{{cell.text}}}" if command else cell.text
    return f"${text}$" if cell.deviation is None else f"${text}_{{\\pm {cell.deviation:.2f}}}$"
