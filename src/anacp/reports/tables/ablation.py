"""The ablation: what each part of AnaCP contributes."""

from collections.abc import Iterable

from anacp.paper import METHOD, Cell, printed_value
from anacp.reports.collection import Comparison, Series
from anacp.reports.settings import caption_of
from anacp.reports.tables.results import papers_group
from anacp.reports.tables.table import Table, TableCell, TableColumn, blocks, measured, text_columns, words

SWITCHES = ("classifier", "projection", "targets", "H", "D", "R", "adapted")
LAST = (3, 6, 9, 12, 16)  # rows after which the paper draws a rule


def ablation_table(comparison: Comparison) -> Table:
    """Return A_last of each variant, with the switches as they stood in its runs."""
    columns = list(text_columns("row", *SWITCHES))
    for setting in comparison.settings:
        columns.append(TableColumn("A_last", setting.label))
        columns += [TableColumn("A_last", papers_group(comparison, setting))] if setting.column else []
    divided: dict[int, list[tuple[TableCell, ...]]] = {}
    for title in comparison.titles:
        of_title = {setting: found for (name, setting), found in comparison.series.items() if name == title}
        cells = [words(title), *_switches(of_title.values())]
        cell = comparison.any_of(title).runs[0].paper
        assert cell is not None
        for setting in comparison.settings:
            cells.append(measured(of_title[setting].metric("A_last") if setting in of_title else None))
            if setting.column:
                cells.append(measured(printed_value(Cell(cell.table, cell.row, setting.column), "A_last")))
        block = next((i for i, last in enumerate(LAST) if cell.place < last), len(LAST))
        divided.setdefault(block, []).append(tuple(cells))
    text = (
        "Ablation of AnaCP: A_last in per cent. Every switch is as it was in the runs of the row, whatever the paper's "
        "row has. Classifier: what decides on top; projection: the contrastive projection; targets: where it puts the "
        "class means, moved apart as in the paper or left as they are; H: heads; D: random features; R: replayed "
        "features a class; adapted: the recipe of first-session adaptation. Rows have the paper's numbers."
    )
    return Table("ablation", caption_of(text, comparison.settings), tuple(columns), blocks(divided.values()))


def _switches(series: Iterable[Series]) -> list[TableCell]:
    """Return the switches of a row; where they differ between settings, all that there are."""
    columns = zip(*(_switches_of(found) for found in series), strict=True)
    return [words(", ".join(dict.fromkeys(filter(None, column)))) for column in columns]


def _switches_of(series: Series) -> tuple[str, ...]:
    run = series.runs[0]
    stated = {name: str(value) for name, value in run.parameters.items()}
    if run.method != METHOD:
        return run.method, "no", "", "", stated.get("n_projected", ""), "", run.adaptation or "no"
    classifier = stated.get("classifier", "")
    return (
        classifier.upper(),
        {"": "", "0": "no"}.get(stated.get("n_heads", ""), "yes"),
        stated.get("targets", ""),
        stated.get("n_heads", ""),
        stated.get("n_projected", ""),
        "" if classifier == "ncm" else stated.get("n_replay", ""),  # which nothing replays to
        run.adaptation or "no",
    )
