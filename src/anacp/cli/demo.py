"""`anacp demo`: the main job in a minute, on the embedded samples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anacp import cli, datasets, evaluation, experiments, learners, reports
from anacp.words import format_bytes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from anacp.scenarios import ClassIncremental


def demo(
    output: Annotated[Path, typer.Option(help="Folder for pictures and results.")] = Path("anacp-demo"),
    sample: Annotated[str, typer.Option(help="Embedded sample: clinc150 or cifar100.")] = "clinc150",
    seed: Annotated[int, typer.Option(help="Seed of the class order and of the learners.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON, nothing else.")] = False,
) -> None:
    """Learn the classes of a sample in 10 tasks, AnaCP beside NCM, and draw what happened."""
    from anacp.scenarios import ClassIncremental

    console = cli.Screen(quiet=as_json)
    data = datasets.read_sample(sample)
    scenario = ClassIncremental(data.train.labels, n_tasks=10, seed=seed)
    chosen: dict[str, learners.Learner[Any]] = {
        "NCM": learners.NCM(random_state=seed),
        "AnaCP": learners.AnaCP(random_state=seed),
    }
    console.print(data.card.title, highlight=False, soft_wrap=True)
    console.print(f"{len(scenario.classes)} classes arrive in {len(scenario)} tasks.\n", highlight=False)
    results = _run_all(chosen, data, scenario, console)
    console.print(_table(results))
    output.mkdir(parents=True, exist_ok=True)
    summary = _write(results, data, scenario, output)
    if as_json:
        print(json.dumps(summary))
    console.print(f"\nPictures and results in {output}/", highlight=False, soft_wrap=True)
    for path in sorted(output.iterdir()):
        console.print(f"  {path.name}", highlight=False)


def _run_all(
    chosen: dict[str, learners.Learner[Any]], data: datasets.Dataset, scenario: ClassIncremental, console: Console
) -> dict[str, list[experiments.Step]]:
    live = console.is_terminal
    results: dict[str, list[experiments.Step]] = {name: [] for name in chosen}
    with cli.progress_bars(console) as progress:
        bars = {name: progress.add_task(f"{name:<6}", total=len(scenario), status="", start=False) for name in chosen}
        for name, learner in chosen.items():
            progress.start_task(bars[name])
            for step in (judged.step for judged in experiments.follow(learner, data.train, data.test, scenario)):
                results[name].append(step)
                status = f"{step.n_classes:>3} classes  {step.accuracy:5.2f} %"
                progress.update(bars[name], advance=1, status=status)
                if not live:
                    console.print(_line(name, step), highlight=False)
    console.print()
    return results


def _line(name: str, step: experiments.Step) -> str:
    seconds = sum(step.seconds.values())
    return f"{name:<6} task {step.task + 1:>2}  {step.n_classes:>3} classes  {step.accuracy:5.2f} %  {seconds:5.1f} s"


def _table(results: dict[str, list[experiments.Step]]) -> Table:
    from rich.table import Table

    table = Table("learner", box=None, pad_edge=False, header_style="bold")
    for column in ("A_last %", "A_avg %", "learn s", "solve s", "predict s", "stored"):
        table.add_column(column, justify="right")
    for name, steps in results.items():
        row = _metrics(steps)
        table.add_row(
            name,
            f"{row['A_last']:.2f}",
            f"{row['A_avg']:.2f}",
            f"{row['learn_seconds']:.1f}",
            f"{row['solve_seconds']:.1f}",
            f"{row['predict_seconds']:.1f}",
            format_bytes(row["stored_bytes"]),
        )
    return table


def _metrics(steps: Sequence[experiments.Step]) -> dict[str, float]:
    matrix = experiments.accuracy_matrix(steps)
    return {
        "A_last": evaluation.last_accuracy(matrix),
        "A_avg": evaluation.average_incremental_accuracy(matrix),
        **{f"{kind}_seconds": sum(step.seconds[kind] for step in steps) for kind in ("learn", "solve", "predict")},
        "stored_bytes": steps[-1].state_bytes,
    }


def _write(
    results: dict[str, list[experiments.Step]], data: datasets.Dataset, scenario: ClassIncremental, output: Path
) -> dict[str, object]:
    first = next(iter(results.values()))
    curves = {name: [step.accuracy for step in steps] for name, steps in results.items()}
    title = f"{data.name}: {len(scenario.classes)} classes in {len(scenario)} tasks"
    figure = reports.accuracy_curves(curves, [step.n_classes for step in first], title=title)
    figure.savefig(output / "accuracy_curve.png")
    matrix = experiments.accuracy_matrix(results["AnaCP"])
    reports.accuracy_heat_map(matrix, title=f"AnaCP on {data.name}").savefig(output / "accuracy_matrix.png")
    summary: dict[str, object] = {
        "sample": data.name,
        "n_tasks": len(scenario),
        "scenario": scenario.describe(),
        "learners": {
            name: {**_metrics(steps), "steps": [asdict(step) | {"accuracy": step.accuracy} for step in steps]}
            for name, steps in results.items()
        },
    }
    (output / "results.json").write_text(json.dumps(summary, indent=1))
    return summary
