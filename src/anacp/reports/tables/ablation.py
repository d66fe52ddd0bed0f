"""The ablation: what each part of AnaCP contributes."""

from collections.abc import Mapping
from typing import Any

from anacp.reports.collect import Comparison
from anacp.reports.paper import ablation_row
from anacp.reports.tables.results import caption_of
from anacp.reports.tables.table import MISSING, Cell, Column, Table, blocks, number, words

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
LAST = (3, 6, 9, 12, 16)  # rows after which the paper draws a rule


def ablation_table(comparison: Comparison) -> Table:
    """Return A_last of each variant, with the switches that the paper's row of that number stands for."""
    columns = [Column("row", numeric=False), *(Column(name, numeric=False) for name, _ in SWITCHES)]
    columns.append(Column("adapted", numeric=False))
    settings = [(setting, setting.paper_column("ablation")) for setting in comparison.settings]
    for setting, theirs in settings:
        columns.append(Column("A_last", setting.label))
        if theirs:
            columns.append(Column("A_last", f"paper: {theirs.title}"))
    divided: dict[int, list[tuple[Cell, ...]]] = {}
    for title in comparison.titles:
        variant = ablation_row(title)
        of_title = {setting: found for (name, setting), found in comparison.series.items() if name == title}
        adapted = dict.fromkeys(run.adaptation or "no" for found in of_title.values() for run in found.runs)
        cells = [words(title), *(_switch(variant, key) for _, key in SWITCHES), words(", ".join(adapted))]
        for setting, theirs in settings:
            cells.append(number(of_title[setting].metric("A_last") if setting in of_title else None))
            if theirs:
                cells.append(number(theirs.ablation(title)))
        block = next((i for i, last in enumerate(LAST) if title.isdigit() and int(title) <= last), len(LAST))
        divided.setdefault(block, []).append(tuple(cells))
    text = (
        "Ablation of AnaCP: A_last in per cent. Classifier: what decides on top; projection: the contrastive "
        "projection; repulsion: class means moved apart; H: heads; D: random features; R: replayed features a class; "
        "adapted: the recipe of first-session adaptation. Rows are numbered as in the paper's Table 3."
    )
    return Table("ablation", caption_of(text, comparison.settings), tuple(columns), blocks(divided.values()))


def _switch(variant: Mapping[str, Any] | None, key: str) -> Cell:
    value = None if variant is None else variant[key]
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    return Cell(MISSING if value is None else str(value))
