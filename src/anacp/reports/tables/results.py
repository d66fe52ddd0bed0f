"""The table of accuracies, with the paper's numbers beside ours."""

from collections.abc import Sequence

from anacp.paper import METHOD, UNRANKED, Cell, printed_relative_error, printed_value
from anacp.reports.collection import Comparison, Series
from anacp.reports.settings import Setting, caption_of
from anacp.reports.tables.table import (
    RowKind,
    Table,
    TableCell,
    TableColumn,
    TableRow,
    measured,
    rank,
    share,
    text_columns,
    words,
)

METRICS = ("A_last", "A_avg")


def relative_error(improved: float, baseline: float) -> float | None:
    """Return the reduction of error in per cent, (A_I − A_0) / (100 − A_0); None where the baseline makes no error."""
    return None if baseline >= 100 else 100 * (improved - baseline) / (100 - baseline)


def results_table(comparison: Comparison) -> Table:
    """Return accuracies: rows are titles, upper bounds apart on top; columns are settings; then the error saved."""
    columns = list(text_columns("method"))
    cells = [[words(title)] for title in comparison.titles]
    summary = [TableCell("Rel. error")]
    for setting in comparison.settings:
        shown = [comparison.series.get((title, setting)) for title in comparison.titles]
        for metric in METRICS:
            ranked = rank(
                [measured(series.metric(metric) if series else None) for series in shown],
                [bool(series and series.ranked) for series in shown],
            )
            _append(cells, ranked)
            columns.append(TableColumn(metric, setting.label))
            summary.append(share(_saved(shown, metric)))
        if comparison.paper and setting.column:
            for metric in METRICS:
                columns.append(TableColumn(metric, papers_group(comparison, setting)))
                _append(cells, [_printed(comparison, title, setting.column, metric) for title in comparison.titles])
                summary.append(share(printed_relative_error(comparison.paper.name, setting.column, metric)))
    kinds = [_kind(comparison, title) for title in comparison.titles]
    rows = [TableRow(tuple(row), kind) for row, kind in zip(cells, kinds, strict=True)]
    if any(cell.value is not None for cell in summary[1:]):
        rows.append(TableRow(tuple(summary), "summary"))
    name = comparison.paper.name if comparison.paper else "results"
    return Table(name, _caption(comparison, with_relative_error=len(rows) > len(cells)), tuple(columns), tuple(rows))


def papers_group(comparison: Comparison, setting: Setting) -> str:
    """Return what heads the paper's numbers beside a setting: what the paper measured them on."""
    assert comparison.paper is not None
    return f"paper: {comparison.paper.backbone} on {setting.column}"


def _append(cells: list[list[TableCell]], column: Sequence[TableCell]) -> None:
    for row, cell in zip(cells, column, strict=True):
        row.append(cell)


def _printed(comparison: Comparison, title: str, column: str, metric: str) -> TableCell:
    cell = comparison.any_of(title).runs[0].paper
    return measured(printed_value(Cell(cell.table, cell.row, column), metric) if cell else None)


def _saved(shown: Sequence[Series | None], metric: str) -> float | None:
    ranked = [series for series in shown if series and series.ranked]
    scored = [(series, found.value) for series in ranked if (found := series.metric(metric))]
    own = [value for series, value in scored if series.proposed]
    others = [value for series, value in scored if not series.proposed]
    return relative_error(max(own), max(others)) if own and others else None


def _kind(comparison: Comparison, title: str) -> RowKind:
    series = comparison.any_of(title)
    return "bound" if series.joint else "other" if series.proposed or series.row == UNRANKED else ""


def _caption(comparison: Comparison, *, with_relative_error: bool) -> str:
    every = list(comparison.series.values())
    seeds = sorted({len(series.runs) for series in every})
    over = f"mean ± standard deviation over {' or '.join(map(str, seeds))} seeds" if seeds[-1] > 1 else "one seed"
    text = [f"Accuracy in per cent, {over}: A_last after the last task, A_avg the mean over all steps."]
    if sum(series.ranked for series in every) > 1:
        text.append("Best in bold, second underlined; equal as printed is equal.")
    if any(series.joint for series in every):
        text.append("Rows on top learn all tasks at once: upper bounds, not ranked.")
    if any(series.row == UNRANKED for series in every):
        text.append(f"{UNRANKED} is an ablation and not ranked, as in the paper.")
    if with_relative_error:
        text.append(
            f"Rel. error: (A_I − A_0) / (100 − A_0), the error that {METHOD} (A_I) saves against the best other method "
            "(A_0) of the column."
        )
    if any(setting.column for setting in comparison.settings):
        text.append("Columns headed “paper” repeat the printed numbers (10 tasks, three seeds).")
    return caption_of(" ".join(text), comparison.settings)
