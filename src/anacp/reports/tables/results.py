"""The table of accuracies, with the paper's numbers beside ours."""

from collections.abc import Sequence

from anacp.reports.collect import METHOD, UNRANKED, Comparison, Series
from anacp.reports.settings import Setting
from anacp.reports.tables.table import Cell, Column, Kind, Row, Table, number, rank, share, words

__all__ = ["caption_of", "relative_error", "results_table"]

METRICS = ("A_last", "A_avg")


def relative_error(improved: float, baseline: float) -> float | None:
    """Return the reduction of error in per cent, (A_I − A_0) / (100 − A_0); None where the baseline makes no error."""
    return None if baseline >= 100 else 100 * (improved - baseline) / (100 - baseline)


def results_table(comparison: Comparison) -> Table:
    """Return accuracies: rows are titles, upper bounds apart on top; columns are settings; then the error saved."""
    columns = [Column("method", numeric=False)]
    cells = [[words(title)] for title in comparison.titles]
    summary = [Cell("Rel. error")]
    paper_rows = [comparison.any_of(title).paper_row for title in comparison.titles]
    for setting in comparison.settings:
        shown = [comparison.series.get((title, setting)) for title in comparison.titles]
        theirs = setting.paper_column(comparison.table)
        for metric in METRICS:
            ranked = rank(
                [number(series.metric(metric) if series else None) for series in shown],
                [bool(series and series.ranked) for series in shown],
            )
            _append(cells, ranked)
            columns.append(Column(metric, setting.label))
            summary.append(share(_saved(shown, metric)))
        if theirs:
            group = f"paper: {theirs.title}"
            for metric in METRICS:
                columns.append(Column(metric, group))
                _append(cells, [number(theirs.value(row, metric)) for row in paper_rows])
                summary.append(share(theirs.relative_error(metric)))
    kinds = [_kind(comparison, title) for title in comparison.titles]
    rows = [Row(tuple(row), kind) for row, kind in zip(cells, kinds, strict=True)]
    if any(cell.value is not None for cell in summary[1:]):
        rows.append(Row(tuple(summary), "summary"))
    name = comparison.table or "results"
    return Table(name, _caption(comparison, with_relative_error=len(rows) > len(cells)), tuple(columns), tuple(rows))


def caption_of(text: str, settings: Sequence[Setting]) -> str:
    """Return a caption that says first, wherever numbers of a substitute are shown, that they are."""
    labels = dict.fromkeys(label for setting in settings if (label := setting.label_of_substitute))
    return " ".join([*labels, text])


def _append(cells: list[list[Cell]], column: Sequence[Cell]) -> None:
    for row, cell in zip(cells, column, strict=True):
        row.append(cell)


def _saved(shown: Sequence[Series | None], metric: str) -> float | None:
    scored = [(series, found.mean) for series in shown if series and series.ranked and (found := series.metric(metric))]
    own = [mean for series, mean in scored if series.paper_row == METHOD]
    others = [mean for series, mean in scored if series.paper_row != METHOD]
    return relative_error(own[0], max(others)) if own and others else None


def _kind(comparison: Comparison, title: str) -> Kind:
    series = comparison.any_of(title)
    return "bound" if series.joint else "other" if series.paper_row in (METHOD, UNRANKED) else ""


def _caption(comparison: Comparison, *, with_relative_error: bool) -> str:
    every = list(comparison.series.values())
    seeds = sorted({len(series.runs) for series in every})
    over = f"mean ± standard deviation over {' or '.join(map(str, seeds))} seeds" if seeds[-1] > 1 else "one seed"
    text = [f"Accuracy in per cent, {over}: A_last after the last task, A_avg the mean over all steps."]
    if sum(series.ranked for series in every) > 1:
        text.append("Best in bold, second underlined; equal as printed is equal.")
    if any(series.joint for series in every):
        text.append("Rows on top learn all tasks at once: upper bounds, not ranked.")
    if any(series.paper_row == UNRANKED for series in every):
        text.append(f"{UNRANKED} is an ablation and not ranked, as in the paper.")
    if with_relative_error:
        text.append(
            f"Rel. error: (A_I − A_0) / (100 − A_0), the error that {METHOD} (A_I) saves against the best other method "
            "(A_0) of the column."
        )
    if any(setting.paper_column(comparison.table) for setting in comparison.settings):
        text.append("Columns headed “paper” repeat the printed numbers (10 tasks, three seeds).")
    return caption_of(" ".join(text), comparison.settings)
