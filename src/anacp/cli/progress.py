"""How long work shows itself on a terminal; elsewhere it stays silent."""

import contextlib
from collections.abc import Callable, Iterator
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from anacp.features import Progress as Extraction
from anacp.methods import Classifier

__all__ = ["extraction_bar", "progress_bars", "solve_visibly"]

STAGES = {"identify": "hashing", "check": "checking", "extract": "features"}


def progress_bars(console: Console) -> Progress:
    """Return bars with counts, a status, the time gone and the time left."""
    return Progress(
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
def extraction_bar(console: Console) -> Iterator[Callable[[Extraction], None]]:
    """Lend a callback that shows how far an extraction is, one bar a stage."""
    with progress_bars(console) as bars:
        shown = {stage: bars.add_task(text, total=None, status="", visible=False) for stage, text in STAGES.items()}

        def follow(step: Extraction) -> None:
            status = f"{step.skipped} skipped" if step.skipped else ""
            bars.update(shown[step.stage], completed=step.done, total=step.total, status=status, visible=True)

        yield follow


def solve_visibly(classifier: Classifier, console: Console) -> float:
    """Solve, and return how many seconds it took."""
    start = perf_counter()
    with console.status("solving"):
        classifier.solve()
    return perf_counter() - start
