"""What is lost of earlier tasks, and the matrix that shows it."""

import numpy as np

from anacp.reports.collect import Comparison, Series
from anacp.reports.settings import Setting
from anacp.reports.tables.results import caption_of
from anacp.reports.tables.table import Cell, Column, Row, Table, number, words

__all__ = ["FORGETTING", "forgetting_table", "matrix_table"]

METRICS = (
    ("accuracy", "task-incremental", "task_incremental_A_last"),
    ("forgetting", "task-incremental", "task_incremental_forgetting"),
    ("backward transfer", "task-incremental", "task_incremental_backward_transfer"),
    ("accuracy", "class-incremental", "A_last"),
    ("forgetting", "class-incremental", "forgetting"),
    ("backward transfer", "class-incremental", "backward_transfer"),
)


FORGETTING = (
    "Forgetting is how far the accuracy on a task fell from its best to the end; backward transfer the change from "
    "just after the task was learned to the end, where a loss is negative. Both are percentage points, means over the "
    "earlier tasks. Task-incremental: the choice is among the classes of the task, so that only what was forgotten "
    "shows. Class-incremental accuracy also falls because more classes make every choice harder."
)


def forgetting_table(comparison: Comparison, setting: Setting, *, identifier: str) -> Table:
    """Return forgetting and backward transfer, told the task and not told; upper bounds have nothing to forget."""
    columns = (Column("method", numeric=False), *(Column(name, group) for name, group, _ in METRICS))
    rows = [
        Row((words(series.title), *(number(series.metric(key)) for _, _, key in METRICS)))
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
    columns = (
        Column("after task", numeric=False),
        *(Column(str(i + 1), "accuracy on task") for i in range(len(matrix))),
    )
    rows = tuple(
        Row((words(t + 1), *(Cell() if np.isnan(value) else Cell(f"{value:.1f}", float(value)) for value in row)))
        for t, row in enumerate(matrix)
    )
    text = (
        f"Task-incremental accuracy matrix of {series.title} ({series.setting.label}), a mean over the seeds: a column "
        "that stays level was not forgotten."
    )
    return Table(identifier, caption_of(text, [series.setting]), columns, rows)
