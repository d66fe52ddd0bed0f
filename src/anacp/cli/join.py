"""`anacp join`: several classes as one."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from anacp import cli
from anacp.cli.changing import changing, label_like, now_line
from anacp.cli.options import AsJson, Exact, ModelPath, Solve
from anacp.cli.say import say


def join(
    model: ModelPath,
    classes: Annotated[list[str], typer.Argument(help="Classes that were learned.", show_default=False)],
    into: Annotated[str, typer.Option(help="What they are called: one of them, or another name.", show_default=False)],
    solve: Solve = True,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Make classes one, exactly: the model that learned all their examples under that name."""
    with changing(model, cli.Screen(quiet=as_json), solve=solve, exact=exact) as classifier:
        known = classifier.classes_.tolist()
        classifier.join([label_like(known, name) for name in classes], label_like(known, into))
    facts = {"model": str(model), "joined": classes, "into": into, "classes": classifier.classes_.tolist()}
    say(json.dumps(facts) if as_json else f"{', '.join(classes)} are {into} now\n{now_line(model, classifier)}")
