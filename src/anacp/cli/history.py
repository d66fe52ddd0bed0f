"""`anacp history`: the steps by which a model became what it is."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from anacp import files, learners, methods
from anacp.cli.options import AsJson, ModelPath
from anacp.cli.say import say
from anacp.errors import InputError
from anacp.files import locked
from anacp.words import counted, listed, visible


def history(
    model: ModelPath,
    no_undo: Annotated[
        bool, typer.Option("--no-undo", help="Give up all that is kept to take steps back; the list stays.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what was learned, forgotten, merged and renamed: when, how many, from where; never the content."""
    if no_undo:
        with locked(model):
            classifier = methods.Classifier.load(model)
            classifier.give_up_undo()
            classifier.save(model)
    file = files.TensorFile(model, learners.MODEL)
    if methods.check_model_header(file) != "classifier":
        raise InputError(f"Expected a classifier, which keeps a journal, got a model of another kind: {model}.")
    journal: dict[str, Any] = file.header.get("journal", {"n_earlier": 0, "steps": []})
    if as_json:
        shown = {part: [_fact(step) for step in journal.get(part, [])] for part in ("steps", "undone")}
        print(json.dumps({"model": str(model), "n_earlier": journal["n_earlier"], **shown}))
        return
    if journal["n_earlier"] or not journal["steps"]:
        say(
            f"{counted(journal['n_earlier'], 'earlier step')} not listed" if journal["n_earlier"] else "no steps listed"
        )
    for number, step in enumerate(journal["steps"], journal["n_earlier"] + 1):
        say(_line(number, step))
    if journal.get("undone"):
        say(f"{counted(len(journal['undone']), 'step')} undone: `anacp redo` takes them again, until the next change")


def _fact(step: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in step.items() if name != "labels"}


def _line(number: int, step: dict[str, Any]) -> str:
    source = f" from {visible(step['source'])}" if step["source"] else ""
    classes = listed(step["classes"], 4, show=visible)
    undo = "" if step["undo"] else ", cannot be undone any more"
    when = step["when"].replace("T", " ")[:16]
    return f"{number:>3}  {when}  {step['what']:<8} {counted(step['n'], 'example')} of {classes}{source}{undo}"
