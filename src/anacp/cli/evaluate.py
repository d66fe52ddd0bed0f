"""`anacp evaluate`: how good a model is on examples it has not learned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anacp import cli, datasets, evaluation, items, learners, methods, reports
from anacp.cli.options import (
    AsJson,
    Backbone,
    Keep,
    LabelColumn,
    MeasuredBy,
    MeasureOption,
    ModelPath,
    OnBad,
    OnErrorOption,
    PathColumn,
    RemoteCode,
    Split,
    TextColumn,
)
from anacp.cli.sources import facts_of, feature_warnings, lines_of, text_warnings
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
        str,
        typer.Argument(
            help="Labelled images or texts, as `anacp learn` takes them; .npz, .parquet or sample:NAME for a model of "
            "features.",
            show_default=False,
        ),
    ],
    split: Split = None,
    on_error: OnBad = OnErrorOption.refuse,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    path_column: PathColumn = None,
    unknown_data: Annotated[
        Path | None,
        typer.Option(
            help="Examples of classes that the model never learned, besides those in PATH.", show_default=False
        ),
    ] = None,
    keep: Keep = None,
    by: MeasuredBy = MeasureOption.both,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for confusion.png, results.json and a page of mistakes.", show_default=False),
    ] = None,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Measure accuracy, class by class, whether the probabilities can be trusted, and what the model finds unknown."""
    import numpy as np

    console = cli.Screen(quiet=as_json)
    loaded = methods.load(model, backbone=backbone, remote_code=remote_code)
    modality = methods.modality_of(loaded)
    left_out: list[tuple[Any, str]] = []
    misleading: list[str] = []

    def read(place: str | Path, split: str | None) -> Any:
        if modality == "features":
            rows, made_by = datasets.feature_examples(place, split=split)
            misleading.extend(feature_warnings(model, str(place), np.asarray(rows.items).shape[1], made_by))
            return rows
        columns = datasets.Columns(text_column, label_column, path_column)
        options: dict[str, Any] = {"on_error": on_error.value, "columns": columns, "modality": modality}
        labelled = datasets.read_labelled(place, split=split, **options)
        left_out.extend(labelled.left_out)
        return labelled

    every = read(path, split)
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
        question = methods.Question(on_error.value, report, asked, by.value)
        found = methods.answer(loaded, list(examples.items), question)
        answered = None if asked is None else methods.answer(loaded, strangers, question)
    left_out += found.skipped
    misleading += text_warnings(model, found, len(found))
    examples = examples.take(found.kept)
    n_learned = (
        int(loaded.learned(found.digests, examples.labels).sum()) if isinstance(loaded, methods.Classifier) else 0
    )
    predicted, confidence = found.labels, found.probabilities.max(1)
    correct = predicted == examples.labels
    classes = found.classes.tolist()
    matrix = evaluation.confusion_matrix(examples.labels, predicted, found.classes)
    results = evaluation.class_results(matrix, classes)
    wrong = evaluation.mistakes(examples.labels, found.classes, found.probabilities)
    facts: dict[str, Any] = {
        "model": str(model),
        "examples": len(examples),
        "classes": len(results),
        "accuracy": 100 * float(correct.mean()),
        "mean_class_accuracy": float(np.mean([result.accuracy for result in results])),
        "expected_calibration_error": evaluation.expected_calibration_error(confidence, correct),
        "learned_examples": n_learned,
        "unknown_class_examples": int(len(every) - known.sum()),
        "mistakes": [{"input": str(_name(examples, one.position)), **asdict(one)} for one in wrong],
        "left_out": facts_of(left_out),
        "warnings": misleading,
        "unknown": _unknown(correct, found.familiarity, answered.familiarity if answered else None, share),
        "per_class": [asdict(result) | {"accuracy": result.accuracy} for result in results],
    }
    if output is not None:
        _write(output, facts, matrix, classes, model)
        _write_gallery(output / "mistakes.html", examples, wrong, methods.modality_of(loaded), model)
    if as_json:
        print(json.dumps(facts))
        return
    for line in [*lines_of("left out", left_out), *misleading]:
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    _show(console, facts, results)
    if output is not None:
        console.print(
            f"\n{output}/: confusion.png, results.json, mistakes.html", highlight=False, soft_wrap=True, markup=False
        )


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
        left_out = f"left out: {counted(facts['unknown_class_examples'], 'example')} of classes that it does not know"
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
        warning = f"{counted(facts['learned_examples'], 'example')} of these learned: the accuracy flatters the model"
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
    if facts["mistakes"]:
        console.print("\nwrong, the worst pairs first, within a pair the most uncertain first:", highlight=False)
    for one in facts["mistakes"][:WORST]:
        answer = f"{visible(one['taken_for'])} {one['probability']:.2f}, {visible(one['label'])} "
        line = f"{visible(one['input'])}: {answer}{one['own_probability']:.2f}"
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    if len(facts["mistakes"]) > WORST:
        console.print(f"… and {len(facts['mistakes']) - WORST:,} more; --json or --output lists all.", highlight=False)


def _write(output: Path, facts: dict[str, Any], matrix: NDArray[np.int64], classes: Sequence[Any], model: Path) -> None:
    title = f"{model.name}: {facts['accuracy']:.1f} % of {counted(facts['examples'], 'example')} right"
    figure = reports.confusion_map(matrix, classes, title=title)
    with replacing(output / "confusion.png") as path:
        figure.savefig(path, format="png")
    with replacing(output / "results.json") as path:
        path.write_text(json.dumps(facts | {"confusion": matrix.tolist(), "labels": list(classes)}, indent=1))


def _name(examples: datasets.Examples, position: int) -> object:
    """Return what to call an example: its text or path, or the number of its row."""
    item = examples.items[position]
    return f"row {position}" if hasattr(item, "shape") else item


def _write_gallery(
    path: Path, examples: datasets.Examples, wrong: list[evaluation.Mistake], modality: str, model: Path
) -> None:
    shown = [
        reports.Shown(
            str(_name(examples, one.position)),
            one.label,
            one.taken_for,
            one.probability,
            one.own_probability,
            items.thumbnail(examples.items[one.position]) if modality == "image" else None,
        )
        for one in wrong[: reports.MOST_SHOWN]
    ]
    title = f"{model.name}: {counted(len(wrong), 'mistake')} in {counted(len(examples), 'example')}"
    with replacing(path) as temporary:
        temporary.write_text(reports.gallery(shown, title=title, n_wrong=len(wrong)), encoding="utf-8")
