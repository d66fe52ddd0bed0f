"""`anacp redo`: the model as it was before it was undone."""

from __future__ import annotations

from typing import Annotated

import typer

from anacp import cli
from anacp.cli.changing import changing, say_steps
from anacp.cli.options import AsJson, Exact, ModelPath, Solve


def redo(
    model: ModelPath,
    steps: Annotated[int, typer.Option(min=1, help="How many of the steps that were undone last.")] = 1,
    solve: Solve = True,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Take steps again that were undone, exactly; possible until the next change."""
    with changing(model, cli.Screen(quiet=as_json), solve=solve, exact=exact) as classifier:
        redone = classifier.redo(steps)
    say_steps(model, classifier, "redone", redone, as_json=as_json)
