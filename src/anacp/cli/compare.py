"""`anacp compare`: methods over the same task stream, side by side."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from anacp import cli, datasets, experiments, reports, samples
from anacp.cli.lists import named_methods, numbers
from anacp.cli.options import ClusterOption
from anacp.cli.stopping import kept
from anacp.files import replacing

# Those of `anacp.methods.compared_methods()`, which takes seconds to ask: help has none to spare.
METHODS = "NCM,SLDA,FeCAM,KLDA,KLDA-E,GACL,ELM,RanPAC,LoRanPAC-10k,AnaCP,Ridge,LinearProbe"


def compare(
    data: Annotated[str, typer.Argument(help="An embedded sample (cifar100, clinc150), or an npz or parquet file.")],
    methods: Annotated[
        str, typer.Option(help="Names separated by commas; FILE.py for learners of your own.")
    ] = METHODS,
    seeds: Annotated[str, typer.Option(help="Whole numbers, separated by commas; each orders the classes anew.")] = "0",
    tasks: Annotated[int, typer.Option(help="Into how many tasks the classes are divided.")] = 10,
    output: Annotated[Path | None, typer.Option(help="Folder for results; by default anacp-compare-NAME.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at a time; by default as many as fit.", show_default=False)
    ] = None,
    on: ClusterOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON, nothing else.")] = False,
) -> None:
    """Run methods over the same task stream; table, figure, JSON and CSV. Run again to resume."""
    console = cli.Screen(quiet=as_json)
    name = f"sample:{data}" if data in samples.SAMPLES else data
    dataset = datasets.open_dataset(name)
    folder = output or Path(f"anacp-compare-{dataset.name.rpartition(':')[2]}")
    specifications = [
        experiments.Specification(
            name, method, file=file, seed=seed, scenario=experiments.ScenarioSettings(tasks=tasks), keep_model=False
        )
        for method, file in named_methods(methods)
        for seed in numbers(seeds)
    ]
    n_methods = len({specification.title for specification in specifications})
    console.print(f"{dataset.card.title}", highlight=False, soft_wrap=True)
    console.print(
        f"{len(dataset.classes)} classes in {tasks} tasks, {n_methods} methods, seeds {seeds}\n", highlight=False
    )
    shown = cli.ShownSweep(console, len(specifications))
    told: dict[str, Any] = {"report": shown.working, "restart_changed": True}
    with (
        kept(lambda: "What is finished is kept: run the same command to resume."),
        cli.crew_on(on, jobs) as crew,
    ):
        shown.follow(experiments.sweep(specifications, folder / "runs", jobs=jobs, crew=crew, **told))
    shown.raise_failed()
    runs = shown.results(specifications)
    table, measured = experiments.compared(runs), cli.timing(runs)
    console.print(cli.comparison_table(table))
    console.print(f"\n{measured}", highlight=False)
    _write(folder, dataset.name, table, [step.n_classes for step in runs[0].steps], measured)
    if as_json:
        print((folder / "results.json").read_text())
    console.print(f"Results in {folder}/: results.json, results.csv, accuracy_curves.png, runs/", highlight=False)


def _write(
    folder: Path, name: str, table: Sequence[experiments.ComparedMethod], n_classes: Sequence[int], measured: str
) -> None:
    with replacing(folder / "results.json") as path:
        contents: dict[str, Any] = {"data": name, "n_classes": n_classes, "timing": measured}
        path.write_text(json.dumps(contents | {"rows": [asdict(row) for row in table]}, indent=1))
    with replacing(folder / "results.csv") as path, path.open("w", newline="") as file:
        flat = [{k: v for k, v in asdict(row).items() if not k.startswith("curve")} for row in table]
        writer = csv.DictWriter(file, fieldnames=list(flat[0]))
        writer.writeheader()
        writer.writerows(flat)
    figure = reports.accuracy_curves(
        {row.method: row.curve for row in table},
        n_classes,
        title=f"{name}: {n_classes[-1]} classes in {len(n_classes)} tasks",
        deviations={row.method: row.curve_std for row in table} if table[0].n_seeds > 1 else None,
    )
    with replacing(folder / "accuracy_curves.png") as path:
        figure.savefig(path, format="png")
