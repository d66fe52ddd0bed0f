"""How experiments show themselves: a bar with the time left on a terminal, lines elsewhere, a table at the end."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from anacp import cluster, experiments
from anacp.errors import AnacpError
from anacp.words import format_bytes, visible

# Where there is no bar, a sign of life.
SECONDS_BETWEEN_LINES = 30


class ShownSweep:
    """Follows a sweep, shows how far it is, and keeps what came of it.

    Parameters
    ----------
    console : Console
        Where it is shown; a quiet one shows nothing.
    n_runs : int
        How many runs there are.
    """

    def __init__(self, console: Console, n_runs: int) -> None:
        self.console = console
        self.n_runs = n_runs
        self.finished: dict[Path, experiments.RunResult] = {}
        self.failed: list[experiments.Failed] = []
        self._printed = perf_counter()
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[status]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self.bar: TaskID = self.bars.add_task("runs", total=1.0, status="", left="")

    def working(self, event: experiments.Working) -> None:
        """Show what takes long between steps."""
        said = f"{_name(event.specification)}: {event.words} {100 * event.share:.0f} %"
        self.bars.update(self.bar, status=said)
        self._print(said, at_once=False)

    def follow(self, statuses: Generator[experiments.Status, None, None]) -> None:
        """Show a sweep to its end."""
        with self.bars, closing(statuses):  # stopped here, processes are ended now
            for status in statuses:
                self._tell(status)
        self.console.print()

    def results(self, specifications: Sequence[experiments.Specification]) -> list[experiments.RunResult]:
        """Return what finished, in the order asked for rather than that of the end."""
        return [self.finished[one.folder] for one in specifications if one.folder in self.finished]

    def raise_failed(self) -> None:
        """Say which runs failed, if any did."""
        if self.failed:
            causes = "; ".join(f"{_name(event.specification)}: {event.error}" for event in self.failed)
            raise AnacpError(f"{len(self.failed)} of {self.n_runs} runs failed. {causes}")

    def _tell(self, status: experiments.Status) -> None:
        event = status.event
        name = _name(event.specification)
        line = ""
        if isinstance(event, experiments.Stepped):
            said = f"{name}: {event.step.n_classes} classes, {event.step.accuracy:.2f} %"
        elif isinstance(event, experiments.Finished):
            self.finished[event.specification.folder] = event.result
            last = event.result.steps[-1]
            said = f"{name}: {last.n_classes} classes, {last.accuracy:.2f} %"
            line = f"{said}{' (kept from before)' if event.reused else ''}"
        elif isinstance(event, experiments.Failed):
            self.failed.append(event)
            said = line = f"{name}: failed"
        left = "" if status.seconds_left is None else f"{_duration(status.seconds_left)} left"
        self.bars.update(self.bar, completed=status.share, status=said, left=left)
        self._print(line or f"{said} {left}".rstrip(), at_once=bool(line))

    def _print(self, line: str, *, at_once: bool) -> None:
        """Print a line where there is no bar: the end of a run at once, anything else now and then."""
        if self.console.is_terminal or not (at_once or perf_counter() - self._printed >= SECONDS_BETWEEN_LINES):
            return
        self._printed = perf_counter()
        ended = len(self.finished) + len(self.failed)
        self.console.print(f"[{ended}/{self.n_runs}] {line}", highlight=False, markup=False, soft_wrap=True)


@contextmanager
def crew_on(address: str | None, jobs: int | None) -> Iterator[cluster.Crew | None]:
    """Lend who runs a sweep on a cluster; None where no address is given."""
    if address is None:
        yield None
        return
    with cluster.connected(address) as nodes:
        yield cluster.runs_on(nodes, jobs=jobs)


def comparison_table(table: Sequence[experiments.ComparedMethod]) -> Table:
    """Return the rows as a table; with several data sets, each is named."""
    several = len({row.dataset for row in table}) > 1
    shown = Table(*(["data set"] if several else []), "method", box=None, pad_edge=False, header_style="bold")
    for column in ("A_last %", "A_avg %", "update s", "predict s", "state"):
        shown.add_column(column, justify="right")
    for row in table:
        shown.add_row(
            *([row.dataset] if several else []),
            row.method,
            _with_deviation(row.a_last, row.a_last_std, row.n_seeds),
            _with_deviation(row.a_avg, row.a_avg_std, row.n_seeds),
            f"{row.update_seconds:.1f}",
            f"{row.predict_seconds:.1f}",
            format_bytes(row.state_bytes),
        )
    return shown


def timing(runs: Sequence[experiments.RunResult]) -> str:
    """Say under which conditions the seconds were measured: beside another run they are longer."""
    found = sorted({(run.environment.get("threads", 0), run.environment.get("jobs", 1)) for run in runs})
    beside = {jobs: f" beside {jobs - 1} other run{'s' * (jobs > 2)}" * (jobs > 1) for _, jobs in found}
    said = [f"{threads} thread{'s' * (threads != 1)}{beside[jobs]}" for threads, jobs in found]
    whose = ", of the quickest seed," * (len({run.seed for run in runs}) > 1)
    return f"Seconds{whose} were measured on {', some on '.join(said)}."


def _with_deviation(mean: float | None, deviation: float | None, n_seeds: int) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f} ± {deviation:.2f}" if n_seeds > 1 else f"{mean:.2f}"


def _name(specification: experiments.Specification) -> str:
    return visible(f"{specification.title} seed {specification.seed}")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
