"""`anacp forget`: the model that never saw these examples."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from anacp import cli, datasets, methods
from anacp.cli.options import (
    AsJson,
    Backbone,
    Exact,
    Examples,
    Label,
    LabelColumn,
    ModelPath,
    OnBad,
    OnErrorOption,
    PathColumn,
    RemoteCode,
    Solve,
    Split,
    TextColumn,
)
from anacp.cli.sources import expected_modality, facts_of, lines_of, source_of
from anacp.cli.stopping import FileBefore, kept
from anacp.errors import InputError
from anacp.files import locked
from anacp.words import counted, listed, visible


def forget(
    model: ModelPath,
    examples: Examples,
    label: Label = None,
    split: Split = None,
    on_error: OnBad = OnErrorOption.refuse,
    on_unknown: Annotated[
        OnErrorOption, typer.Option(help="An example that was never learned.")
    ] = OnErrorOption.refuse,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Keep nothing by which this or an earlier step could be undone.")
    ] = False,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    path_column: PathColumn = None,
    solve: Solve = True,
    exact: Exact = False,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Unlearn examples exactly; a class whose last example goes is forgotten."""
    console = cli.Screen(quiet=as_json)
    found = datasets.read_labelled(
        *examples,
        label=label,
        split=split,
        on_error=on_error.value,
        columns=datasets.Columns(text_column, label_column, path_column),
        modality=expected_modality(model),
    )
    with kept(FileBefore(model).words), locked(model):
        classifier = methods.Classifier.load(model, backbone=backbone, remote_code=remote_code)
        with cli.shown_progress(console) as report:
            options: dict[str, Any] = {"on_error": on_error.value, "on_unknown": on_unknown.value, "report": report}
            options |= {"source": source_of(examples), "for_good": for_good}
            result = classifier.forget(list(found.items), found.labels, **options)
        if not classifier.n_examples:
            raise InputError(f"Expected something to remain, got all examples of {model} to forget. Delete it instead.")
        if result.n_forgotten or for_good:
            if solve:
                cli.solve_visibly(classifier, console)
            classifier.save(model, exact=exact)
    facts = {
        "model": str(model),
        "forgotten_examples": result.n_forgotten,
        "unknown_examples": result.n_unknown,
        "skipped": facts_of(result.skipped),
        "left_out": facts_of(found.left_out),
        "lost_classes": result.lost_classes,
        "examples": classifier.n_examples,
        "classes": len(classifier.classes_),
        "seconds": round(result.feature_seconds, 3),
    }
    if as_json:
        print(json.dumps(facts))
    for line in [*lines_of("left out", found.left_out), *lines_of("skipped", result.skipped)]:
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    unknown = f", {result.n_unknown:,} were not in the model" if result.n_unknown else ""
    console.print(f"{counted(result.n_forgotten, 'example')} forgotten{unknown}", highlight=False)
    if result.lost_classes:
        console.print(
            f"classes gone ({len(result.lost_classes):,}): {listed(result.lost_classes, 8, show=visible)}",
            highlight=False,
            soft_wrap=True,
            markup=False,
        )
    left = f"{model}: {counted(classifier.n_examples, 'example')} of {counted(len(classifier.classes_), 'class')}"
    console.print(left, highlight=False, soft_wrap=True, markup=False)
