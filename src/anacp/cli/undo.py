"""`anacp undo`: the model as it was before the last steps."""

from __future__ import annotations

from typing import Annotated

import typer

from anacp import cli
from anacp.cli.changing import changing, say_steps
from anacp.cli.options import AsJson, Exact, ModelPath, Solve


def undo(
    model: ModelPath,
    steps: Annotated[int, typer.Option(min=1, help="How many of the last steps, as `anacp history` lists them.")] = 1,
    solve: Solve = True,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Take the last steps back, exactly: learning, forgetting, merging, moving, renaming and joining."""
    with changing(model, cli.Screen(quiet=as_json), solve=solve, exact=exact) as classifier:
        undone = classifier.undo(steps)
    say_steps(model, classifier, "undone", undone, as_json=as_json)
