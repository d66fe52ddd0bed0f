"""`anacp compare`: methods over the same task stream, side by side."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from anacp.atomic import replacing
from anacp.cli.progress import progress_bars
from anacp.datasets import open_dataset
from anacp.errors import ParameterError
from anacp.experiments import Progress, Row, Run, rows
from anacp.experiments import compare as run_comparison
from anacp.learners import COMPARED, methods_in
from anacp.learners.summary import format_bytes
from anacp.reports import accuracy_curves
from anacp.samples.load import SAMPLES

__all__ = ["compare"]


def compare(
    data: Annotated[str, typer.Argument(help="An embedded sample (cifar100, clinc150), or an npz or parquet file.")],
    methods: Annotated[
        str, typer.Option(help="Names separated by commas; FILE.py for learners of your own.")
    ] = ",".join(COMPARED),
    seeds: Annotated[str, typer.Option(help="Whole numbers, separated by commas; each orders the classes anew.")] = "0",
    tasks: Annotated[int, typer.Option(help="Into how many tasks the classes are divided.")] = 10,
    output: Annotated[Path | None, typer.Option(help="Folder for results; by default anacp-compare-NAME.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON, nothing else.")] = False,
) -> None:
    """Run methods over the same task stream; table, figure, JSON and CSV. Run again to resume."""
    console = Console(quiet=as_json)
    dataset = open_dataset(f"sample:{data}" if data in SAMPLES else data)
    given = [name.strip() for name in methods.split(",") if name.strip()]
    names = [name for entry in given for name in (methods_in(entry) if entry.endswith(".py") else [entry])]
    folder = output or Path(f"anacp-compare-{dataset.name.rpartition(':')[2]}")
    steps = run_comparison(dataset, names, _numbers(seeds), folder, n_tasks=tasks)
    console.print(f"{dataset.card.title}", highlight=False, soft_wrap=True)
    console.print(
        f"{len(dataset.classes)} classes in {tasks} tasks, {len(names)} methods, seeds {seeds}\n", highlight=False
    )
    runs = _follow(steps, len(names) * len(_numbers(seeds)) * tasks, console)
    table = rows(runs)
    console.print(_table(table))
    n_classes = [step.n_classes for step in runs[0].steps]
    _write(folder, dataset.name, table, n_classes)
    if as_json:
        print((folder / "results.json").read_text())
    console.print(f"\nResults in {folder}/: results.json, results.csv, accuracy_curves.png, runs/", highlight=False)


def _numbers(seeds: str) -> list[int]:
    try:
        return [int(seed) for seed in seeds.split(",")]
    except ValueError as problem:
        raise ParameterError(f"Expected whole numbers separated by commas, such as 0,1,2, got {seeds!r}.") from problem


def _follow(steps: Iterator[Progress], total: int, console: Console) -> list[Run]:
    runs: list[Run] = []
    with progress_bars(console) as progress:
        bar = progress.add_task("all", total=total, status="")
        for event in steps:
            accuracy = f"{event.method} seed {event.seed}: {event.step.n_classes} classes, {event.step.accuracy:.2f} %"
            progress.update(bar, advance=1, status=accuracy)
            if event.finished:
                runs.append(event.finished)
                note = " (kept from before)" if event.reused else ""
                if not console.is_terminal:
                    console.print(f"{accuracy}{note}", highlight=False)
    console.print()
    return runs


def _table(table: Sequence[Row]) -> Table:
    shown = Table("method", box=None, pad_edge=False, header_style="bold")
    for column in ("A_last %", "A_avg %", "update s", "predict s", "state"):
        shown.add_column(column, justify="right")
    for row in table:
        shown.add_row(
            row.method,
            _with_deviation(row.a_last, row.a_last_std, row.n_seeds),
            _with_deviation(row.a_avg, row.a_avg_std, row.n_seeds),
            f"{row.update_seconds:.1f}",
            f"{row.predict_seconds:.1f}",
            format_bytes(row.state_bytes),
        )
    return shown


def _with_deviation(mean: float, deviation: float, n_seeds: int) -> str:
    return f"{mean:.2f} ± {deviation:.2f}" if n_seeds > 1 else f"{mean:.2f}"


def _write(folder: Path, name: str, table: Sequence[Row], n_classes: Sequence[int]) -> None:
    with replacing(folder / "results.json") as path:
        contents = {"data": name, "n_classes": n_classes, "rows": [asdict(row) for row in table]}
        path.write_text(json.dumps(contents, indent=1))
    with replacing(folder / "results.csv") as path, path.open("w", newline="") as file:
        flat = [{k: v for k, v in asdict(row).items() if not k.startswith("curve")} for row in table]
        writer = csv.DictWriter(file, fieldnames=list(flat[0]))
        writer.writeheader()
        writer.writerows(flat)
    figure = accuracy_curves(
        {row.method: row.curve for row in table},
        n_classes,
        title=f"{name}: {n_classes[-1]} classes in {len(n_classes)} tasks",
        deviations={row.method: row.curve_std for row in table} if table[0].n_seeds > 1 else None,
    )
    with replacing(folder / "accuracy_curves.png") as path:
        figure.savefig(path, format="png")
