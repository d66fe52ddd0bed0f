"""`anacp undo`: the model as it was before the last steps."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from anacp import cli
from anacp.cli.changing import changing, now_line
from anacp.cli.options import AsJson, Exact, ModelPath, Solve
from anacp.cli.say import say
from anacp.words import counted, listed, visible


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
    facts = {
        "model": str(model),
        "undone": [{"what": step.what, "when": step.when, "n": step.n} for step in undone],
        "examples": classifier.n_examples,
        "classes": len(classifier.classes_),
    }
    lines = [
        f"undone: {step.what} {counted(step.n, 'example')} of {listed(list(step.classes), 4, show=visible)}"
        for step in undone
    ]
    say(json.dumps(facts) if as_json else "\n".join([*lines, now_line(model, classifier)]))
