"""`anacp merge`: several models as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from anacp import cli, methods
from anacp.cli.options import AsJson, Exact, Solve
from anacp.cli.say import say
from anacp.cli.stopping import FileBefore, kept
from anacp.errors import InputError
from anacp.files import locked
from anacp.words import counted, format_bytes


def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more model files.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    solve: Solve = True,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Write the model that learned the examples of all; they must have no example in common."""
    with kept(FileBefore(output).words):
        _merge(models, output, solve, exact, as_json)


def _merge(models: list[Path], output: Path, solve: bool, exact: bool, as_json: bool) -> None:
    if len(models) < 2:
        raise InputError(f"Expected two or more models, got {len(models)}. Name them one after the other.")
    merged = methods.Classifier.load(models[0])
    for path in models[1:]:
        merged = merged + methods.Classifier.load(path)
    if solve:
        cli.solve_visibly(merged, cli.Screen(quiet=as_json))
    with locked(output):
        merged.save(output, exact=exact)
    facts = {
        "model": str(output),
        "examples": merged.n_examples,
        "classes": len(merged.classes_),
        "bytes": output.stat().st_size,
    }
    size = format_bytes(output.stat().st_size)
    line = f"{output}: {counted(merged.n_examples, 'example')} of {counted(len(merged.classes_), 'class')}, {size}"
    say(json.dumps(facts) if as_json else line)
