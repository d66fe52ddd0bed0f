"""`anacp forget`: the model that never saw these examples."""

import json
from typing import Annotated

import typer
from rich.console import Console

from anacp.cli.options import AsJson, Examples, Model, OnError, Solve, Split, join
from anacp.cli.progress import extraction_bar, solve_visibly
from anacp.datasets import read_labelled
from anacp.errors import InputError
from anacp.locks import locked
from anacp.methods import Classifier

__all__ = ["forget"]


def forget(
    model: Model,
    path: Examples,
    split: Split = None,
    on_unknown: Annotated[OnError, typer.Option(help="An example that was never learned.")] = OnError.refuse,
    solve: Solve = True,
    as_json: AsJson = False,
) -> None:
    """Unlearn examples exactly; a class whose last example goes is forgotten."""
    console = Console(quiet=as_json)
    examples = read_labelled(path, split=split)
    items = list(examples.items)
    with locked(model):
        classifier = Classifier.load(model)
        with extraction_bar(console) as follow:
            result = classifier.forget(items, examples.labels, on_unknown=on_unknown.value, progress=follow)
        if not classifier.n_examples:
            raise InputError(f"Expected something to remain, got all examples of {model} to forget. Delete it instead.")
        if result.n_forgotten:
            if solve:
                solve_visibly(classifier, console)
            classifier.save(model)
    facts = {
        "model": str(model),
        "forgotten_examples": result.n_forgotten,
        "unknown_examples": result.n_unknown,
        "lost_classes": result.lost_classes,
        "examples": classifier.n_examples,
        "classes": len(classifier.classes_),
        "seconds": round(result.feature_seconds, 3),
    }
    if as_json:
        print(json.dumps(facts))
    unknown = f", {result.n_unknown:,} were not in the model" if result.n_unknown else ""
    console.print(f"{result.n_forgotten:,} examples forgotten{unknown}", highlight=False)
    if result.lost_classes:
        console.print(
            f"classes gone ({len(result.lost_classes):,}): {join(result.lost_classes)}",
            highlight=False,
            soft_wrap=True,
            markup=False,
        )
    left = f"{model}: {classifier.n_examples:,} examples of {len(classifier.classes_):,} classes"
    console.print(left, highlight=False, soft_wrap=True, markup=False)
