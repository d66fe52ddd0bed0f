"""`anacp reproduce`: one of the paper's tables, from the data to the finished report; run again to resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anacp import cli, experiments, reports
from anacp.cli.lists import names, numbers
from anacp.cli.options import AsJson, ClusterOption
from anacp.cli.stopping import kept
from anacp.errors import MissingDataError
from anacp.paper import TABLES

if TYPE_CHECKING:
    from rich.console import Console


def reproduce(
    table: Annotated[str, typer.Argument(help=f"{', '.join(TABLES)}.", show_default=False)],
    dataset: Annotated[
        str, typer.Option(help="Names separated by commas; by default all of the table.", show_default=False)
    ] = "",
    backbone: Annotated[str | None, typer.Option(help="Another backbone than the paper's.", show_default=False)] = None,
    methods: Annotated[
        str,
        typer.Option(help="Rows separated by commas; 'analytic', or 'all' for those too that train for hours."),
    ] = "analytic",
    seeds: Annotated[str, typer.Option(help="Whole numbers, separated by commas; each orders the classes anew.")] = (
        "0,1,2"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="The first seed, small: to see the shape of the table.")
    ] = False,
    substitute: Annotated[
        bool, typer.Option("--substitute", help="Run on what every installation has, and say so on every page.")
    ] = False,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="With --substitute: adapt the backbone in no row, which takes long.")
    ] = False,
    reuse: Annotated[
        Path | None,
        typer.Option(
            help="Folder with runs: those that are equal but for their names are not run again.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for runs and report; by default anacp-TABLE.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Runs at a time; by default as many as fit, 1 for efficiency.", show_default=False),
    ] = None,
    on: ClusterOption = None,
    as_json: AsJson = False,
) -> None:
    """Run one of the paper's tables and write its report."""
    console = cli.Screen(quiet=as_json, highlight=False, soft_wrap=True)
    made = experiments.plan(
        table,
        datasets=names(dataset),
        backbone=backbone,
        methods=names(methods),
        seeds=numbers(seeds),
        quick=quick,
        substitute=substitute,
        frozen=frozen,
    )
    _say(made, table, console)
    runs = made.specifications
    folder = output or Path(f"anacp-{table}{'-substitute' if substitute else ''}{'-quick' if quick else ''}")
    shown = cli.ShownSweep(console, len(runs))
    with kept(lambda: "What is finished is kept: run the same command to resume."):
        jobs = 1 if table == "efficiency" else jobs
        with cli.crew_on(on, jobs) as crew:
            shown.follow(experiments.sweep(runs, folder, jobs=jobs, reuse=reuse, report=shown.working, crew=crew))
    results = shown.results(runs)
    written = reports.report([folder], folder / "report.html", formats=("html", "md", "tex", "csv"))
    if as_json:
        print(json.dumps(_facts(made, results, written)))
    console.print(cli.comparison_table(experiments.compared(results)))
    console.print(f"\n{cli.timing(results)}\n")
    for path in written:
        console.print(str(path), markup=False)
    shown.raise_failed()


def _say(made: experiments.PlannedTable, table: str, console: Console) -> None:
    """Tell what is missing and what stands in for what; refuse where there is nothing to run."""
    for reason in made.missing:
        console.print(f"missing: {reason}", markup=False)
    if not made.specifications:
        raise MissingDataError(
            f"Expected the backbone and data of {table}, got none of it: {' '.join(made.missing)} "
            "Or add --substitute to run the same rows on what is here."
        )
    stated = [one.substitute for one in made.specifications if one.substitute]
    for label in dict.fromkeys(f"Substitute for {words['for']}: {words['note']}" for words in stated):
        console.print(label, markup=False)


def _facts(
    made: experiments.PlannedTable, results: list[experiments.RunResult], written: list[Path]
) -> dict[str, list[str]]:
    return {
        "missing": made.missing,
        "runs": [str(one.folder) for one in results],
        "written": [str(path) for path in written],
    }
