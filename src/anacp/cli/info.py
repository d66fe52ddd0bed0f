"""`anacp info`: what is in a model file, without loading it."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from anacp import encoders, files, learners, methods, statistics
from anacp.cli.options import AsJson, ModelPath
from anacp.cli.say import say
from anacp.errors import InputError, UncheckedFileWarning
from anacp.words import counted, format_bytes, visible

KINDS = {"learner": "a learner of features", "classifier": "a classifier", "trained": "a trained network"}


def info(
    model: ModelPath,
    outlook: Annotated[
        bool,
        typer.Option("--classes", help="How sure each class is, what it is confused with, what one more may gain."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show kind, backbone, method, classes with their numbers of examples, size, date and version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedFileWarning)  # said below
        file = files.TensorFile(model, learners.MODEL)
    kind, header = methods.check_model_header(file), file.header
    counts = [file.counts("moments.counts")] if "moments.counts" in file.sizes() else []  # a trained network has none
    if counts and len(counts[0]) != len(header["classes"]):
        raise file.damage("moments.counts are not those of its classes")
    examples = counts[0] if counts else [None] * len(header["classes"])
    classes = [{"label": label, "examples": n} for label, n in zip(header["classes"], examples, strict=True)]
    facts: dict[str, Any] = {
        "model": str(model),
        "kind": kind,
        "backbone": header.get("backbone") or header.get("network"),
        "layer_choice": header.get("layer_choice"),
        "learner": header.get("learner") or header.get("method"),
        "parameters": header["parameters"],
        "n_features": header.get("n_features"),
        "examples": sum(counts[0]) if counts else None,
        "classes": classes,
        "solved": header.get("solution") is not None if counts else None,
        "keeps": _kept(file),
        "exact": not statistics.is_coded({name.rpartition(".")[2]: None for name in file.sizes()}),
        "bytes": model.stat().st_size,
        "checked": file.sealed,
        "saved": header.get("saved"),
        "written_by": header["written_by"],
    }
    outlooks = _outlooks(model) if outlook else []
    if outlook:
        facts["classes"] = outlooks
    if as_json:
        print(json.dumps(facts))
        return
    for name, text in _lines(facts).items():
        say(f"{name:<9} {visible(text)}")
    if outlook:
        _say_outlooks(outlooks)
        return
    say(f"\n{'examples':>8}  class")
    for entry in sorted(classes, key=lambda entry: str(entry["label"])):
        say(f"{'' if entry['examples'] is None else format(entry['examples'], ',.10g'):>8}  {visible(entry['label'])}")


def _outlooks(model: Path) -> list[dict[str, Any]]:
    """Return what a model says of its classes, those it is least sure of first."""
    loaded = methods.load(model)
    learner = loaded.learner if isinstance(loaded, methods.Classifier) else loaded
    if not isinstance(learner, learners.Learner):
        raise InputError(f"Expected a model that remembers its classes, got a trained network: {model}.")
    return sorted(map(asdict, learners.class_outlooks(learner)), key=lambda one: one["sure"])


def _say_outlooks(outlooks: list[dict[str, Any]]) -> None:
    say(f"\n{'examples':>8}  {'sure':>5}  {'one more':>8}  class, and what it is confused with")
    for one in outlooks:
        other = "" if one["confused_with"] is None else f", {visible(one['confused_with'])} {one['confusion']:.2f}"
        say(f"{one['n']:>8,.10g}  {one['sure']:>5.2f}  {one['gain']:>+8.3f}  {visible(one['label'])}{other}")


def _kept(file: files.TensorFile) -> str | None:
    """Say in which form the features of a ridge regression are kept, and why: few examples, or many."""
    sizes = {name.rpartition(".")[2]: shape for name, shape in file.sizes().items()}
    few = sizes.get("directions") or sizes.get("directions_codes")
    if few:
        return f"{few[0]:,} directions of {few[1]:,} features: so few examples need no matrix, and solve quickly"
    sums = sizes.get("sums") or sizes.get("sums_codes")
    if {"gram", "gram_codes"} & sizes.keys() and sums:
        return f"matrices of {sums[1]:,} features: with so many examples they are smaller than what was taught"
    return None


def _choice(facts: dict[str, Any]) -> dict[str, str]:
    if not facts["layer_choice"]:
        return {}
    choice, origin = encoders.LayerChoice.restored(facts["layer_choice"]), encoders.Origin.restored(facts["backbone"])
    return {"chosen": choice.words(origin.layers)}


def _lines(facts: dict[str, Any]) -> dict[str, str]:
    backbone, classes = facts["backbone"], counted(len(facts["classes"]), "class")
    lines = {
        "kind": KINDS[facts["kind"]],
        "backbone": str(encoders.Origin.restored(backbone)) if backbone else "none",
        **_choice(facts),
        "learner": facts["learner"],
        "learned": classes if facts["examples"] is None else f"{counted(facts['examples'], 'example')} of {classes}",
        "size": f"{format_bytes(facts['bytes'])}, {'every bit' if facts['exact'] else 'large matrices in fewer bits'}",
        "saved": f"{facts['saved'] or 'date not stated'} by {facts['written_by']}",
    }
    if facts["keeps"]:
        lines["keeps"] = facts["keeps"]
    if not facts["checked"]:
        lines["checked"] = "no: written before files had a digest of everything; save it again"
    if facts["solved"] is not None:
        lines["solved"] = "yes: predictions start at once" if facts["solved"] else "no: see `anacp solve`"
    return lines
