"""What stands below the accuracies: what was forgotten, what it cost, and the parameters that were run."""

from typing import Any

from anacp.reports.collection import STAGES, Comparison, Series
from anacp.reports.settings import Setting, caption_of
from anacp.reports.tables.table import (
    Table,
    TableCell,
    TableColumn,
    TableRow,
    measured,
    seconds,
    size,
    text_columns,
    words,
)

METRICS = {"accuracy": "A_last", "forgetting": "forgetting", "backward transfer": "backward_transfer"}

FORGETTING = (
    "Forgetting is how far the accuracy on a task fell from its best to the end; backward transfer the change from "
    "just after the task was learned to the end, where a loss is negative. Both are percentage points, means over the "
    "earlier tasks. Task-incremental: the choice is among the classes of the task, so that only what was forgotten "
    "shows. Class-incremental accuracy also falls because more classes make every choice harder."
)

EFFICIENCY = (
    "Seconds of each stage over all tasks, of the quickest seed, on the machines listed below. State is what a model "
    "file holds, peak memory that of the whole process. Features and adaptations found on disk count with the time "
    "it took to make them."
)


def forgetting_table(comparison: Comparison, setting: Setting, *, identifier: str) -> Table:
    """Return forgetting and backward transfer, told the task and not told; upper bounds have nothing to forget."""
    groups = {"task-incremental": "task_incremental_", "class-incremental": ""}
    columns = (*text_columns("method"), *(TableColumn(name, group) for group in groups for name in METRICS))
    keys = [prefix + key for prefix in groups.values() for key in METRICS.values()]
    rows = [
        TableRow((words(series.title), *(measured(series.metric(key)) for key in keys)))
        for series in comparison.of(setting)
        if not series.joint
    ]
    return Table(identifier, caption_of(f"What is forgotten, {setting.label}.", [setting]), columns, tuple(rows))


def matrix_table(series: Series, *, identifier: str) -> Table | None:
    """Return the task-incremental accuracy matrix of a series, a mean over its seeds; None where there is none."""
    stacked = series.matrices(task_incremental=True)
    if stacked is None:
        return None
    matrix = stacked.mean(0)  # (T, T)
    heads = (TableColumn(str(i + 1), "accuracy on task") for i in range(len(matrix)))
    rows = tuple(
        TableRow(
            (words(t + 1), *(TableCell() if value != value else TableCell(f"{value:.1f}", value) for value in row))
        )
        for t, row in enumerate(matrix.tolist())
    )
    text = (
        f"Task-incremental accuracy matrix of {series.title} ({series.setting.label}), a mean over the seeds: a column "
        "that stays level was not forgotten."
    )
    return Table(identifier, caption_of(text, [series.setting]), (*text_columns("after task"), *heads), rows)


def efficiency_table(comparison: Comparison, setting: Setting, *, identifier: str) -> Table:
    """Return one row for each title: times of the quickest seed, sizes as means over the seeds."""
    heads = [*(f"{stage}, s" for stage in (*STAGES, "all")), "state", "peak memory", "A_last"]
    rows = [
        TableRow(
            (
                words(series.title),
                *(seconds(series.seconds(stage)) for stage in STAGES),
                seconds(series.seconds(*STAGES)),
                *(size(series.mean_bytes(kind)) for kind in ("state_bytes", "peak_memory_bytes")),
                measured(series.metric("A_last")),
            ),
            "bound" if series.joint else "",
        )
        for series in comparison.of(setting)
    ]
    columns = (*text_columns("method"), *map(TableColumn, heads))
    return Table(identifier, caption_of(f"Time and memory, {setting.label}.", [setting]), columns, tuple(rows))


def parameters_table(comparison: Comparison, *, identifier: str) -> Table:
    """Return the parameters of every row, those left at their defaults included."""
    several = len(comparison.settings) > 1
    rows = []
    for title in comparison.titles:
        labels: dict[tuple[str, str], list[str]] = {}
        for setting in comparison.settings:
            if (title, setting) in comparison.series:
                labels.setdefault(_stated(comparison.series[title, setting]), []).append(setting.label)
        for stated, where in labels.items():
            data = ["all" if len(labels) == 1 else "; ".join(where)] if several else []
            rows.append(TableRow(tuple(map(words, (title, *data, *stated)))))
    heads = text_columns("row", *(["run on"] if several else []), "adapted")
    columns = (*heads, TableColumn("parameters", numeric=False, wide=True))
    text = "Parameters that were run, defaults included; adapted: the recipe of first-session adaptation."
    return Table(identifier, caption_of(text, comparison.settings), columns, tuple(rows))


def _stated(series: Series) -> tuple[str, str]:
    run = series.runs[0]
    pairs = ", ".join(f"{name}={_plain(value)}" for name, value in run.parameters.items())
    return run.adaptation or "no", pairs or "not recorded"


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(map(_plain, value)) if isinstance(value, list) else str(value)
