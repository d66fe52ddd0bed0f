"""What the accuracy costs: time by stage, the size of the model, memory."""

from anacp.reports.collect import STAGES, Comparison
from anacp.reports.settings import Setting
from anacp.reports.tables.results import caption_of
from anacp.reports.tables.table import Column, Row, Table, number, seconds, size, words

__all__ = ["EFFICIENCY", "efficiency_table"]

EFFICIENCY = (
    "Seconds of each stage over all tasks, of the quickest seed, on the machines listed below. State is what a model "
    "file holds, peak memory that of the whole process. Features and adaptations found on disk count with the time "
    "it took to make them."
)


def efficiency_table(comparison: Comparison, setting: Setting, *, identifier: str) -> Table:
    """Return one row for each title: times of the quickest seed, sizes as means over the seeds."""
    columns = (
        Column("method", numeric=False),
        *(Column(f"{stage}, s") for stage in STAGES),
        Column("all, s"),
        Column("state"),
        Column("peak memory"),
        Column("A_last"),
    )
    rows = [
        Row(
            (
                words(series.title),
                *(seconds(series.seconds(stage)) for stage in STAGES),
                seconds(series.seconds(*STAGES)),
                size(series.state_bytes),
                size(series.peak_memory_bytes),
                number(series.metric("A_last")),
            ),
            "bound" if series.joint else "",
        )
        for series in comparison.of(setting)
    ]
    return Table(identifier, caption_of(f"Time and memory, {setting.label}.", [setting]), columns, tuple(rows))
