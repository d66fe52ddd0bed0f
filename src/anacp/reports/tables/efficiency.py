"""What the accuracy costs: time by stage, the size of the model, memory."""

from anacp.reports.collect import STAGES, Comparison
from anacp.reports.tables.results import caption_of
from anacp.reports.tables.table import Column, Row, Table, number, seconds, size, words

__all__ = ["efficiency_table"]


def efficiency_table(comparison: Comparison, *, identifier: str) -> Table:
    """Return one row for each title and setting; times and sizes are means over the seeds."""
    several = len(comparison.settings) > 1
    columns = [
        Column("method", numeric=False),
        *([Column("setting", numeric=False)] if several else []),
        *(Column(f"{stage}, s") for stage in STAGES),
        Column("all, s"),
        Column("state"),
        Column("peak memory"),
        Column("A_last"),
    ]
    rows = [
        Row(
            (
                words(series.title),
                *([words(setting.label)] if several else []),
                *(seconds(series.seconds(stage)) for stage in STAGES),
                seconds(series.seconds(*STAGES)),
                size(series.state_bytes),
                size(series.peak_memory_bytes),
                number(series.metric("A_last")),
            ),
            "bound" if series.joint else "",
        )
        for setting in comparison.settings
        for series in comparison.of(setting)
    ]
    text = (
        "Cost: seconds of each stage over all tasks, means over the seeds, on the machines listed below; state is what "
        "a model file holds, peak memory that of the whole process. Features found in a store take no time to extract."
    )
    return Table(identifier, caption_of(text, comparison.settings), tuple(columns), tuple(rows))
