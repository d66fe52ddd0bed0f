"""What `anacp learn` says at its end: what was learned, here or on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anacp import cli, cluster, datasets, methods
from anacp.cli.sources import facts_of, lines_of, text_warnings
from anacp.words import counted, format_bytes, listed, visible


def say_learned(
    model: Path,
    classifier: methods.Classifier,
    found: datasets.Labelled,
    result: methods.Learned,
    seconds: tuple[float, float],
    tally: cluster.Tally | None,
    console: cli.Screen,
    as_json: bool,
) -> None:
    """Print what was learned, in how many seconds it was solved and saved, and on a cluster what each node did."""
    facts = _facts(model, classifier, found, result, *seconds)
    if tally is not None:
        facts["cluster"] = tally.facts()
    if as_json:
        print(json.dumps(facts))
    for line in [*(tally.lines() if tally else ()), *_lines(model, classifier, facts, found, result)]:
        console.print(line, highlight=False, soft_wrap=True, markup=False)


def _conflicts(result: methods.Learned) -> list[tuple[Any, str]]:
    return [(one.item, f"given as {one.label!r}, and its content as {one.other!r}") for one in result.conflicts]


def _facts(
    model: Path,
    classifier: methods.Classifier,
    found: datasets.Labelled,
    result: methods.Learned,
    solve_seconds: float,
    save_seconds: float,
) -> dict[str, Any]:
    return {
        "model": str(model),
        "new_examples": result.n_new,
        "known_examples": result.n_known,
        "skipped": facts_of(result.skipped),
        "left_out": facts_of(found.left_out),
        "conflicts": facts_of(_conflicts(result)),
        "cut": result.cut,
        "foreign": result.foreign,
        "notes": list(found.notes),
        "new_classes": result.new_classes,
        "examples": classifier.n_examples,
        "classes": len(classifier.classes_),
        "layers": list(classifier.encoder.origin.layers),
        "layer_choice": result.layer_choice,
        "feature_seconds": round(result.feature_seconds, 3),
        "learn_seconds": round(result.learn_seconds, 3),
        "solve_seconds": round(solve_seconds, 3),
        "save_seconds": round(save_seconds, 3),
        "bytes": model.stat().st_size,
    }


def _lines(
    model: Path,
    classifier: methods.Classifier,
    facts: dict[str, Any],
    found: datasets.Labelled,
    result: methods.Learned,
) -> list[str]:
    lines = [
        *(f"note: {note}" for note in found.notes),
        *lines_of("left out", found.left_out),
        *lines_of("skipped", result.skipped),
        *lines_of("left out", _conflicts(result)),
        *text_warnings(model, result, result.n_new),
    ]
    counts = {"left out": len(found.left_out) + len(result.conflicts), "skipped": len(result.skipped)}
    rest = "".join(f", {n:,} {what}" for what, n in counts.items() if n)
    lines.append(f"{counted(facts['known_examples'], 'example')} known already, {facts['new_examples']:,} new{rest}")
    if result.new_classes:
        lines.append(f"new classes ({len(result.new_classes):,}): {listed(result.new_classes, 8, show=visible)}")
    if result.layer_choice:
        lines.append(result.layer_choice)
    if result.n_new:
        stages = ("feature", "features"), ("learn", "learning"), ("solve", "solving"), ("save", "saving")
        lines.append(", ".join(f"{title} {facts[f'{stage}_seconds']:.1f} s" for stage, title in stages))
    size = format_bytes(facts["bytes"])
    return [*lines, f"{model}: {counted(facts['examples'], 'example')} of {counted(facts['classes'], 'class')}, {size}"]
