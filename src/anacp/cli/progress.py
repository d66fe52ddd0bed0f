"""How long work shows itself on a terminal; elsewhere it stays silent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from anacp import methods
from anacp.progress import Progress, Report


def progress_bars(console: Console) -> Bars:
    """Return bars with counts, a status, the time gone and the time left."""
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[status]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


@contextlib.contextmanager
def shown_progress(console: Console) -> Iterator[Report]:
    """Lend a callback that shows how far something is, one bar for each thing that is done."""
    with progress_bars(console) as bars:
        shown: dict[str, TaskID] = {}

        def follow(progress: Progress) -> None:
            if progress.words not in shown:
                shown[progress.words] = bars.add_task(progress.words, total=None, status="")
            status = f"{progress.skipped} skipped" if progress.skipped else ""
            bars.update(shown[progress.words], completed=progress.done, total=progress.total, status=status)

        yield follow


def solve_visibly(classifier: methods.Classifier, console: Console) -> float:
    """Solve, and return how many seconds it took."""
    start = perf_counter()
    with console.status("solving"):
        classifier.solve()
    return perf_counter() - start
