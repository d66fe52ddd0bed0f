"""`anacp rename`: a class under another name."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from anacp import cli
from anacp.cli.changing import changing, label_like, now_line
from anacp.cli.options import AsJson, Exact, ModelPath, Solve
from anacp.cli.say import say


def rename(
    model: ModelPath,
    old: Annotated[str, typer.Argument(help="A class that was learned.", show_default=False)],
    new: Annotated[str, typer.Argument(help="A name that no class has.", show_default=False)],
    solve: Solve = True,
    exact: Exact = False,
    as_json: AsJson = False,
) -> None:
    """Give a class another name; its examples stay as they are."""
    with changing(model, cli.Screen(quiet=as_json), solve=solve, exact=exact) as classifier:
        classes = classifier.classes_.tolist()
        classifier.rename(label_like(classes, old), label_like(classes, new))
    facts = {"model": str(model), "old": old, "new": new, "classes": classifier.classes_.tolist()}
    say(json.dumps(facts) if as_json else f"{old} is called {new} now\n{now_line(model, classifier)}")
