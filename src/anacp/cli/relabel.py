"""`anacp relabel`: learned examples to another class."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from anacp import cli, datasets
from anacp.cli.changing import changing, label_like, now_line
from anacp.cli.options import AsJson, Backbone, Exact, ModelPath, RemoteCode, Solve
from anacp.cli.say import say
from anacp.words import counted


def relabel(
    model: ModelPath,
    inputs: Annotated[
        list[str],
        typer.Argument(help="Images, folders of them, texts, a table of either, or - for lines: what was learned."),
    ],
    label: Annotated[str, typer.Option(help="The class they belong to, old or new.", show_default=False)],
    solve: Solve = True,
    exact: Exact = False,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Move examples to another class, whichever they are in; they are known by their content."""
    console = cli.Screen(quiet=as_json)
    kept = {"solve": solve, "exact": exact, "remote_code": remote_code}
    with changing(model, console, backbone=backbone, **kept) as classifier, cli.shown_progress(console) as report:
        items = [item for item in datasets.read_unlabelled(inputs, classifier.modality).items if item is not None]
        n_moved = classifier.relabel(items, label_like(classifier.classes_.tolist(), label), report=report)
    facts = {"model": str(model), "moved_examples": n_moved, "label": label, "classes": classifier.classes_.tolist()}
    moved = f"{counted(n_moved, 'example')} moved to {label}"
    say(json.dumps(facts) if as_json else f"{moved}\n{now_line(model, classifier)}")
