"""`anacp run`: an experiment from a file, or from flags; run again to resume."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from anacp import cli, experiments
from anacp.cli.lists import named_methods, numbers
from anacp.cli.options import AsJson, ClusterOption
from anacp.cli.stopping import kept
from anacp.errors import ParameterError


def run_command(
    specification: Annotated[
        Path | None, typer.Argument(help="A TOML file that says what to run.", show_default=False)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Without a file: a data set by name, sample:NAME or path.", show_default=False)
    ] = None,
    method: Annotated[
        str, typer.Option(help="Without a file: names separated by commas; FILE.py for methods of your own.")
    ] = "AnaCP",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the method, NAME=VALUE; may be given again.", show_default=False),
    ] = None,
    backbone: Annotated[str | None, typer.Option(help="What encodes images or texts.", show_default=False)] = None,
    adaptation: Annotated[
        str | None, typer.Option(help="Recipe that adapts the backbone to the first task.", show_default=False)
    ] = None,
    tasks: Annotated[int | None, typer.Option(help="How many tasks; 10 if left out.", show_default=False)] = None,
    seeds: Annotated[str | None, typer.Option(help="Whole numbers, separated by commas.", show_default=False)] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Learn all tasks at once.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the runs; by default anacp-run-NAME.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at a time; by default as many as fit.", show_default=False)
    ] = None,
    on: ClusterOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over instead of resuming.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment; what is finished is kept, what was interrupted goes on."""
    console = cli.Screen(quiet=as_json)
    flags = {
        "dataset": dataset,
        "backbone": backbone,
        "adaptation": adaptation,
        "joint": joint or None,
        "seeds": None if seeds is None else numbers(seeds),
        "scenario": None if tasks is None else {"tasks": tasks},
    }
    given = {key: value for key, value in flags.items() if value is not None}
    runs = _asked(specification, given, method, set_ or [])
    folder = output or Path(f"anacp-run-{_stem(specification, runs)}")
    shown = cli.ShownSweep(console, len(runs))
    with kept(lambda: "What is finished is kept: run the same command to resume."), cli.crew_on(on, jobs) as crew:
        shown.follow(experiments.sweep(runs, folder, jobs=jobs, fresh=fresh, report=shown.working, crew=crew))
    results = shown.results(runs)
    folders = {one.folder: folder / one.folder for one in runs}
    if as_json:
        failed = [{"run": str(event.specification.folder), "error": event.error} for event in shown.failed]
        finished = [json.loads((result.folder / "results.json").read_text()) for result in results]
        listed = [{"folder": str(result.folder)} | one for result, one in zip(results, finished, strict=True)]
        print(json.dumps({"runs": listed, "failed": failed}))
    elif results:
        console.print(cli.comparison_table(experiments.compared(results)))
        console.print(f"\n{cli.timing(results)}\n", highlight=False)
        for path in folders.values():
            console.print(str(path), highlight=False, markup=False, soft_wrap=True)
    shown.raise_failed()


def _asked(
    path: Path | None, given: dict[str, Any], method: str, assignments: list[str]
) -> list[experiments.Specification]:
    """Return the runs of a file, or of the flags."""
    if path is not None:
        if given or assignments:
            raise ParameterError(
                "Expected a file or flags that say what to run, got both. Write all of it into the file."
            )
        return experiments.specifications(path)
    if "dataset" not in given:
        raise ParameterError("Expected a TOML file or --dataset, got neither. Say what to run.")
    parameters = dict(map(_assigned, assignments))
    methods = [
        {"name": name, "parameters": parameters} | ({"file": file} if file else {})
        for name, file in named_methods(method)
    ]
    return experiments.expand(given | {"methods": methods})


def _assigned(assignment: str) -> tuple[str, Any]:
    """Return name and value of NAME=VALUE; a value that is no number, true or false, or list is text."""
    name, equals, text = assignment.partition("=")
    if not equals:
        raise ParameterError(f"Expected --set NAME=VALUE, got {assignment!r}.")
    try:
        return name.strip(), tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), text


def _stem(path: Path | None, runs: list[experiments.Specification]) -> str:
    return path.stem if path is not None else runs[0].folder.parts[0]
