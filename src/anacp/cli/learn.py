"""`anacp learn`: photos or sentences into a model file, now and again."""

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console

from anacp.cli.options import AsJson, Examples, OnError, Solve, Split, join
from anacp.cli.progress import extraction_bar, solve_visibly
from anacp.datasets import is_text_file, read_labelled
from anacp.errors import InputError, MismatchError
from anacp.features import FeatureStore
from anacp.learners import method
from anacp.learners.summary import format_bytes
from anacp.locks import locked
from anacp.methods import Classifier, Learned

__all__ = ["learn"]

BACKBONES = {"image": "efficientnet-lite0", "text": "minilm-l6"}


def learn(
    path: Examples,
    model: Annotated[Path, typer.Option(help="The model file; made if it is not there.", show_default=False)],
    backbone: Annotated[
        str | None,
        typer.Option(help="efficientnet-lite0 for images and minilm-l6 for texts if left out.", show_default=False),
    ] = None,
    learner: Annotated[str | None, typer.Option(help="AnaCP if left out.", show_default=False)] = None,
    split: Split = None,
    on_error: Annotated[OnError, typer.Option(help="An image that cannot be read.")] = OnError.refuse,
    solve: Solve = True,
    as_json: AsJson = False,
) -> None:
    """Learn labelled examples: new classes, more of old ones, or both. What is known already is left out."""
    console = Console(quiet=as_json)
    examples = read_labelled(path, split=split)
    modality = "text" if is_text_file(path) else "image"
    items = list(examples.items)
    with locked(model):
        classifier = _open(model, modality, backbone, learner)
        with extraction_bar(console) as follow:
            result = classifier.learn(items, examples.labels, on_error=on_error.value, progress=follow)
        if not result.n_new and not classifier.n_examples:
            raise InputError(f"Expected images that can be read in {path}, got none of {len(result.skipped)}.")
        solve_seconds = solve_visibly(classifier, console) if solve and result.n_new else 0.0
        start = perf_counter()
        if result.n_new:
            classifier.save(model)
        save_seconds = perf_counter() - start
    if result.entry is not None:  # it was kept against being stopped; the model file knows the examples now
        result.entry.remove()
    facts = _facts(model, classifier, result, solve_seconds, save_seconds)
    if as_json:
        print(json.dumps(facts))
    for line in _lines(model, facts, result):
        console.print(line, highlight=False, soft_wrap=True, markup=False)


def _open(model: Path, modality: str, backbone: str | None, learner: str | None) -> Classifier:
    store = FeatureStore()
    if not model.exists():
        return Classifier(backbone or BACKBONES[modality], learner or "AnaCP", store=store)
    classifier = Classifier.load(model, backbone=backbone, store=store)
    if classifier.origin.modality != modality:
        raise MismatchError(
            f"Expected {classifier.origin.modality}s, which {model} was learned with ({classifier.origin.name}), "
            f"got {modality}s. Give another --model for these."
        )
    if learner is not None and method(learner).get_params() != classifier.learner.get_params():
        raise MismatchError(
            f"Expected --learner {type(classifier.learner).__name__} as in {model}, or none, got {learner}. "
            "What was learned cannot change its method: give another --model."
        )
    return classifier


def _facts(
    model: Path, classifier: Classifier, result: Learned, solve_seconds: float, save_seconds: float
) -> dict[str, Any]:
    return {
        "model": str(model),
        "new_examples": result.n_new,
        "known_examples": result.n_known,
        "skipped": [{"input": str(item), "reason": reason} for item, reason in result.skipped],
        "new_classes": result.new_classes,
        "examples": classifier.n_examples,
        "classes": len(classifier.classes_),
        "feature_seconds": round(result.feature_seconds, 3),
        "learn_seconds": round(result.learn_seconds, 3),
        "solve_seconds": round(solve_seconds, 3),
        "save_seconds": round(save_seconds, 3),
        "bytes": model.stat().st_size,
    }


def _lines(model: Path, facts: dict[str, Any], result: Learned) -> list[str]:
    for_now = f"{facts['known_examples']:,} examples known already, {facts['new_examples']:,} new"
    lines = [f"skipped {item}: {reason}" for item, reason in result.skipped]
    lines.append(for_now + (f", {len(result.skipped):,} skipped" if result.skipped else ""))
    if result.new_classes:
        lines.append(f"new classes ({len(result.new_classes):,}): {join(result.new_classes)}")
    if result.n_new:
        stages = ("feature", "features"), ("learn", "learning"), ("solve", "solving"), ("save", "saving")
        lines.append(", ".join(f"{title} {facts[f'{stage}_seconds']:.1f} s" for stage, title in stages))
    size = format_bytes(facts["bytes"])
    return [*lines, f"{model}: {facts['examples']:,} examples of {facts['classes']:,} classes, {size}"]
