"""`anacp learn --cluster`: the same on the nodes of a Ray cluster; and models of features, on one or here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from anacp import cli, cluster, datasets, learners, methods
from anacp.errors import InputError, MismatchError
from anacp.files import locked
from anacp.words import counted, format_bytes, listed, visible

UNTAUGHT = "AnaCP"


@dataclass(frozen=True)
class There:
    """What was learned on a cluster and saved."""

    classifier: methods.Classifier
    result: methods.Learned
    found: datasets.Labelled  # without its examples: what was left out, and notes
    tally: cluster.Tally
    solve_seconds: float
    save_seconds: float


def learn_there(
    classifier: methods.Classifier,
    model: Path,
    examples: list[str],
    nodes: cluster.Cluster,
    reading: cluster.Reading,
    *,
    strict: bool,
    solve: bool,
    exact: bool,
    device: str,
    console: cli.Screen,
) -> There:
    """Teach a classifier on a cluster, and save it."""
    with cli.shown_progress(console) as report:
        workers = cluster.pool_of(nodes, classifier.encoder, device=device)
        options: dict[str, Any] = {"strict": strict, "on_conflict": reading.on_error, "workers": workers}
        done = cluster.learn(
            nodes, classifier, examples, source=", ".join(examples), reading=reading, report=report, **options
        )
    taught, summed = done.model, done.summed
    if not done.learned.n_new and not taught.n_examples:
        raise InputError(
            f"Expected examples that can be learned in {', '.join(examples)}, got none: "
            f"{len(summed.skipped):,} cannot be read, {len(summed.conflicts):,} are of two classes."
        )
    solve_seconds = cli.solve_visibly(taught, console) if solve and done.learned.n_new else 0.0
    start = perf_counter()
    if done.learned.n_new:
        taught.save(model, exact=exact)
    save_seconds = perf_counter() - start
    summed.clear()
    workers.close()
    modality: Any = taught.modality
    found = datasets.Labelled((), np.empty(0, np.str_), modality, summed.left_out, summed.notes)
    return There(taught, done.learned, found, summed.tally, solve_seconds, save_seconds)


def learn_rows(
    model: Path,
    examples: list[str],
    *,
    learner: str | None,
    split: str | None,
    address: str | None,
    solve: bool,
    exact: bool,
    as_json: bool,
) -> None:
    """Learn rows of features into a model of features, on a cluster or here."""
    console = cli.Screen(quiet=as_json)
    with locked(model), cli.shown_progress(console) as report:
        known = _learner(model, learner)
        before = known.classes_.tolist() if known._learned else []
        tally: dict[str, Any] = {}
        lines: list[str] = []
        start = perf_counter()
        if address is None:
            for one in examples:
                rows, made_by = datasets.feature_examples(one, split=split or "train")
                known.partial_fit(rows.items, rows.labels)
                known.features_from = known.features_from or made_by
            done = None
        else:
            with cluster.connected(address) as nodes:
                done = cluster.learn_features(
                    nodes, known, examples, reading=cluster.Reading(split=split), report=report
                )
                known = done.model
                tally, lines = done.summed.tally.facts(), done.summed.tally.lines()
                known.features_from = known.features_from or _made_by(examples)
                _saved(known, model, solve=solve, exact=exact)
                done.summed.clear()
        if done is None:
            _saved(known, model, solve=solve, exact=exact)
        seconds = perf_counter() - start
    new = [label for label in known.classes_.tolist() if label not in set(before)]
    n = int(known._known().memory.moments.counts.sum())
    facts = {
        "model": str(model),
        "new_classes": new,
        "examples": n,
        "classes": len(known.classes_),
        "seconds": round(seconds, 3),
        "bytes": model.stat().st_size,
        **({"cluster": tally} if tally else {}),
    }
    if as_json:
        print(json.dumps(facts))
    if new:
        lines.append(f"new classes ({len(new):,}): {listed(new, 8, show=visible)}")
    size = format_bytes(facts["bytes"])
    lines.append(f"{model}: {counted(n, 'example')} of {counted(len(known.classes_), 'class')}, {size}")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True, markup=False)


def _saved(known: learners.Learner[Any], model: Path, *, solve: bool, exact: bool) -> None:
    if solve:
        known.solve(probabilities=True, unknown=True)
    known.save(model, exact=exact)


def _learner(model: Path, name: str | None) -> learners.Learner[Any]:
    """Return the learner of a model file, or one that has learned nothing."""
    asked = None if name is None else methods.untaught(name)
    if not model.exists():
        return asked if asked is not None else methods.untaught(UNTAUGHT)
    found = methods.load(model)
    if not isinstance(found, learners.Learner):
        raise MismatchError(
            f"Expected a model of features, which are given, got one of another kind: {model}. Give another --model."
        )
    if asked is not None and (type(asked) is not type(found) or asked.get_params() != found.get_params()):
        raise MismatchError(
            f"Expected --learner {type(found).__name__} as in {model}, or none, got {name}. Give another --model."
        )
    return found


def _made_by(examples: list[str]) -> str | None:
    names = {datasets.feature_examples(one, split="train")[1] for one in examples if cluster.has_features(one)}
    return names.pop() if len(names) == 1 else None
