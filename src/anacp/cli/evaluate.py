"""`anacp evaluate`: how good a model is on examples it has not learned."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from anacp.cli.options import AsJson, Backbone, ModelPath, RemoteCode, Split
from anacp.cli.progress import shown_progress
from anacp.cli.screen import Screen
from anacp.datasets import feature_examples, read_labelled
from anacp.errors import InputError
from anacp.evaluation import ClassResult, class_results, confusion_matrix, expected_calibration_error
from anacp.files import replacing
from anacp.methods import Classifier, answer, load, modality_of
from anacp.reports import confusion_map
from anacp.words import counted, visible

WORST = 10


def evaluate(
    model: ModelPath,
    path: Annotated[
        Path,
        typer.Argument(
            help="Labelled images or texts, as `anacp learn` takes them; .npz, .parquet or sample:NAME for a model of "
            "features.",
            show_default=False,
        ),
    ],
    split: Split = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for confusion.png and results.json.", show_default=False)
    ] = None,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Measure accuracy, class by class, and whether the probabilities can be trusted."""
    console = Screen(quiet=as_json)
    loaded = load(model, backbone=backbone, remote_code=remote_code)
    read = feature_examples if modality_of(loaded) == "features" else read_labelled
    every = read(path, split=split)
    known = np.isin(every.labels, loaded.classes_)
    if not known.any():
        raise InputError(f"Expected examples of classes that {model} knows in {path}, got none of {len(every)}.")
    examples = every.take(known)
    with shown_progress(console) as report:
        found = answer(loaded, list(examples.items), report=report)
    n_learned = int(loaded.learned(found.digests, examples.labels).sum()) if isinstance(loaded, Classifier) else 0
    predicted, confidence = found.labels, found.probabilities.max(1)
    correct = predicted == examples.labels
    classes = found.classes.tolist()
    matrix = confusion_matrix(examples.labels, predicted, found.classes)
    results = class_results(matrix, classes)
    facts: dict[str, Any] = {
        "model": str(model),
        "examples": len(examples),
        "classes": len(results),
        "accuracy": 100 * float(correct.mean()),
        "mean_class_accuracy": float(np.mean([result.accuracy for result in results])),
        "expected_calibration_error": expected_calibration_error(confidence, correct),
        "learned_examples": n_learned,
        "unknown_class_examples": len(every) - len(examples),
        "per_class": [asdict(result) | {"accuracy": result.accuracy} for result in results],
    }
    if output is not None:
        _write(output, facts, matrix, classes, model)
    if as_json:
        print(json.dumps(facts))
        return
    _show(console, facts, results)
    if output is not None:
        console.print(f"\n{output}/: confusion.png, results.json", highlight=False, soft_wrap=True, markup=False)


def _show(console: Console, facts: dict[str, Any], results: list[ClassResult]) -> None:
    judged = f"{counted(facts['examples'], 'example')} of {counted(facts['classes'], 'class')}"
    head = (
        f"{facts['accuracy']:.1f} % of {judged} right, "
        f"expected calibration error {facts['expected_calibration_error']:.3f}"
    )
    console.print(head, highlight=False, soft_wrap=True)
    if facts["unknown_class_examples"]:
        left_out = f"left out: {facts['unknown_class_examples']:,} examples of classes that the model does not know"
        console.print(left_out, highlight=False, soft_wrap=True)
    if facts["learned_examples"]:
        warning = f"{facts['learned_examples']:,} of these examples were learned: the accuracy flatters the model"
        console.print(warning, highlight=False, soft_wrap=True)
    table = Table("class", box=None, pad_edge=False, header_style="bold")
    for column in ("right", "of", "%"):
        table.add_column(column, justify="right")
    table.add_column("most often taken for")
    for result in results[:WORST]:
        mistaken = "" if result.taken_for is None else f"{visible(result.taken_for)} ({result.taken_for_n})"
        table.add_row(visible(result.label), str(result.right), str(result.n), f"{result.accuracy:.0f}", mistaken)
    console.print()
    console.print(table, markup=False)
    if len(results) > WORST:
        rest = f"… and {len(results) - WORST:,} classes that do as well or better; --json lists all."
        console.print(rest, highlight=False)


def _write(output: Path, facts: dict[str, Any], matrix: NDArray[np.int64], classes: Sequence[Any], model: Path) -> None:
    title = f"{model.name}: {facts['accuracy']:.1f} % of {facts['examples']:,} examples right"
    figure = confusion_map(matrix, classes, title=title)
    with replacing(output / "confusion.png") as path:
        figure.savefig(path, format="png")
    with replacing(output / "results.json") as path:
        path.write_text(json.dumps(facts | {"confusion": matrix.tolist(), "labels": list(classes)}, indent=1))
