"""The ablation: what each part of AnaCP contributes."""

from collections.abc import Mapping
from typing import Any

from anacp.reports.collect import Comparison
from anacp.reports.paper import ablation_row
from anacp.reports.tables.results import caption_of
from anacp.reports.tables.table import MISSING, Cell, Column, Row, Table, number, words

__all__ = ["ablation_table"]

# Heading in our table, key in the paper's row.
SWITCHES = (
    ("classifier", "classifier"),
    ("projection", "projection"),
    ("repulsion", "repulsion"),
    ("H", "heads"),
    ("D", "projected"),
    ("R", "replay"),
)
BLOCKS = ((1, 3), (4, 6), (7, 9), (10, 12), (13, 16))  # divided by rules, as printed


def ablation_table(comparison: Comparison) -> Table:
    """Return A_last of each variant, with the switches that the paper's row of that number stands for."""
    columns = [Column("row", numeric=False), *(Column(name, numeric=False) for name, _ in SWITCHES)]
    columns.append(Column("adapted", numeric=False))
    settings = [(setting, setting.paper_column("ablation")) for setting in comparison.settings]
    for setting, theirs in settings:
        columns.append(Column("A_last", setting.label))
        if theirs:
            columns.append(Column("A_last", f"paper: {theirs.title}"))
    rows = []
    for title in comparison.titles:
        variant = ablation_row(title)
        of_title = {setting: found for (name, setting), found in comparison.series.items() if name == title}
        adapted = dict.fromkeys(run.adaptation or "no" for found in of_title.values() for run in found.runs)
        cells = [words(title), *(_switch(variant, key) for _, key in SWITCHES), words(", ".join(adapted))]
        for setting, theirs in settings:
            cells.append(number(of_title[setting].metric("A_last") if setting in of_title else None))
            if theirs:
                cells.append(number(theirs.ablation(title)))
        rows.append((title, Row(tuple(cells))))
    text = (
        "Ablation of AnaCP: A_last in per cent. Classifier: what decides on top; projection: the contrastive "
        "projection; repulsion: class means moved apart; H: heads; D: random features; R: replayed features a class; "
        "adapted: the recipe of first-session adaptation. Rows are numbered as in the paper's Table 3."
    )
    return Table("ablation", caption_of(text, comparison.settings), tuple(columns), tuple(_blocks(rows)))


def _switch(variant: Mapping[str, Any] | None, key: str) -> Cell:
    value = None if variant is None else variant[key]
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    return Cell(MISSING if value is None else str(value))


def _blocks(rows: list[tuple[str, Row]]) -> list[Row]:
    """Let rows of neighbouring blocks differ in kind, which is what draws a rule between them."""
    kinds: tuple[Any, Any] = ("", "own")
    divided = []
    for title, row in rows:
        block = next((i for i, (low, high) in enumerate(BLOCKS) if title.isdigit() and low <= int(title) <= high), 5)
        divided.append(Row(row.cells, kinds[block % 2]))
    return divided
