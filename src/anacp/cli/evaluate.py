"""`anacp evaluate`: how good a model is on examples it has not learned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anacp import cli, datasets, evaluation, learners, methods, reports
from anacp.cli.options import AsJson, Backbone, Keep, MeasuredBy, MeasureOption, ModelPath, RemoteCode, Split
from anacp.errors import InputError
from anacp.files import replacing
from anacp.words import counted, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

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
    unknown_data: Annotated[
        Path | None,
        typer.Option(
            help="Examples of classes that the model never learned, besides those in PATH.", show_default=False
        ),
    ] = None,
    keep: Keep = None,
    by: MeasuredBy = MeasureOption.both,
    output: Annotated[
        Path | None, typer.Option(help="Folder for confusion.png and results.json.", show_default=False)
    ] = None,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Measure accuracy, class by class, whether the probabilities can be trusted, and what the model finds unknown."""
    import numpy as np

    console = cli.Screen(quiet=as_json)
    loaded = methods.load(model, backbone=backbone, remote_code=remote_code)
    read = datasets.feature_examples if methods.modality_of(loaded) == "features" else datasets.read_labelled
    every = read(path, split=split)
    known = np.isin(every.labels, loaded.classes_)
    if not known.any():
        raise InputError(f"Expected examples of classes that {model} knows in {path}, got none of {len(every)}.")
    examples, others = every.take(known), [every.take(~known)]
    if unknown_data is not None:
        more = read(unknown_data, split="all")
        strange = ~np.isin(more.labels, loaded.classes_)
        if not strange.any():
            raise InputError(f"Expected examples of classes that {model} never learned in {unknown_data}, got none.")
        others.append(more.take(strange))
    strangers = [item for part in others for item in part.items]
    share = learners.KEEP if keep is None else keep
    able = unknown_data is not None or not isinstance(loaded, methods.TrainedMethod)
    asked = share if strangers and able else None
    with cli.shown_progress(console) as report:
        found = methods.answer(loaded, list(examples.items), report=report, keep=asked, by=by.value)
        answered = None if asked is None else methods.answer(loaded, strangers, report=report, keep=asked, by=by.value)
    n_learned = (
        int(loaded.learned(found.digests, examples.labels).sum()) if isinstance(loaded, methods.Classifier) else 0
    )
    predicted, confidence = found.labels, found.probabilities.max(1)
    correct = predicted == examples.labels
    classes = found.classes.tolist()
    matrix = evaluation.confusion_matrix(examples.labels, predicted, found.classes)
    results = evaluation.class_results(matrix, classes)
    facts: dict[str, Any] = {
        "model": str(model),
        "examples": len(examples),
        "classes": len(results),
        "accuracy": 100 * float(correct.mean()),
        "mean_class_accuracy": float(np.mean([result.accuracy for result in results])),
        "expected_calibration_error": evaluation.expected_calibration_error(confidence, correct),
        "learned_examples": n_learned,
        "unknown_class_examples": len(every) - len(examples),
        "unknown": _unknown(correct, found.familiarity, answered.familiarity if answered else None, share),
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


def _unknown(
    correct: NDArray[np.bool_], known: NDArray[Any] | None, unknown: NDArray[Any] | None, keep: float
) -> dict[str, Any] | None:
    """Return how well unknown examples are told from known ones; None if there were none, or the model cannot tell."""
    if known is None or unknown is None:
        return None
    return {
        "examples": len(unknown),
        "keep": keep,
        "known_kept": 100 * float((known >= 0).mean()),
        "unknown_found": 100 * float((unknown < 0).mean()),
        "accuracy_with_rejection": 100 * evaluation.accuracy_with_rejection(correct, known, unknown),
        "auroc": 100 * evaluation.auroc(known, unknown),
        "false_positives_at_95": 100 * evaluation.false_positive_rate(known, unknown),
    }


def _show(console: Console, facts: dict[str, Any], results: list[evaluation.ClassResult]) -> None:
    from rich.table import Table

    judged = f"{counted(facts['examples'], 'example')} of {counted(facts['classes'], 'class')}"
    head = (
        f"{facts['accuracy']:.1f} % of {judged} right, "
        f"expected calibration error {facts['expected_calibration_error']:.3f}"
    )
    console.print(head, highlight=False, soft_wrap=True)
    if facts["unknown_class_examples"]:
        left_out = f"left out: {facts['unknown_class_examples']:,} examples of classes that the model does not know"
        console.print(left_out, highlight=False, soft_wrap=True)
    if unknown := facts["unknown"]:
        told = (
            f"unknown: of {counted(unknown['examples'], 'example')} {unknown['unknown_found']:.1f} % found, "
            f"{unknown['known_kept']:.1f} % of the others kept (asked for {100 * unknown['keep']:g}); with these "
            f"{unknown['accuracy_with_rejection']:.1f} % right, AUROC {unknown['auroc']:.1f}, "
            f"{unknown['false_positives_at_95']:.1f} % taken for known where 95 % are kept"
        )
        console.print(told, highlight=False, soft_wrap=True)
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
    figure = reports.confusion_map(matrix, classes, title=title)
    with replacing(output / "confusion.png") as path:
        figure.savefig(path, format="png")
    with replacing(output / "results.json") as path:
        path.write_text(json.dumps(facts | {"confusion": matrix.tolist(), "labels": list(classes)}, indent=1))
