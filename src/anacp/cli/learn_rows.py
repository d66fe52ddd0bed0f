"""`anacp learn` of rows of features: into a model of features, here or on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, cast

from anacp import cli, cluster, datasets, learners, methods
from anacp.cli.method_name import method_named
from anacp.errors import MismatchError
from anacp.files import locked
from anacp.progress import Report
from anacp.words import counted, format_bytes, listed, visible

UNTAUGHT = "AnaCP"
Known: TypeAlias = "learners.Learner[Any]"


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
    """Learn rows of features, and save."""

    def save(known: Known) -> None:
        if solve:
            known.solve(probabilities=True, unknown=True)
        known.save(model, exact=exact)

    console, start = cli.Screen(quiet=as_json), perf_counter()
    with locked(model), cli.shown_progress(console) as report:
        known = _learner(model, learner)
        before = set(known.classes_.tolist()) if known._learned else set()
        tally = None
        if address is None:
            known = _learned_here(known, examples, split)
            save(known)
        else:
            with cluster.connected(address) as nodes:
                known, done = _learned_there(nodes, known, examples, split, report)
                save(known)
                done.clear()
            tally = done.tally
    _say(model, known, [one for one in known.classes_.tolist() if one not in before], tally, start, console, as_json)


def _learned_here(known: Known, examples: list[str], split: str | None) -> Known:
    for one in examples:
        rows, made_by = datasets.feature_examples(one, split=split or "train")
        known.partial_fit(cast(Any, rows.items), rows.labels)
        known.features_from = known.features_from or made_by
    return known


def _learned_there(
    nodes: cluster.Cluster, known: Known, examples: list[str], split: str | None, report: Report
) -> tuple[Known, cluster.Summed]:
    done = cluster.learn_features(nodes, known, examples, reading=cluster.Reading(split=split), report=report)
    near = [one for one in examples if one.startswith("sample:") or Path(one).is_file()]
    made_by = {datasets.feature_examples(one, split="train")[1] for one in near}
    grown = done.model
    grown.features_from = known.features_from or (made_by.pop() if len(made_by) == 1 else None)
    return grown, done.summed


def _learner(model: Path, name: str | None) -> Known:
    """Return the learner of a model file, or one that has learned nothing."""
    asked = None if name is None else methods.untaught(method_named(name))
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


def _say(
    model: Path,
    known: Known,
    new: list[Any],
    tally: cluster.Tally | None,
    start: float,
    console: cli.Screen,
    as_json: bool,
) -> None:
    n = int(known._known().memory.moments.counts.sum())
    facts: dict[str, Any] = {
        "model": str(model),
        "new_classes": new,
        "examples": n,
        "classes": len(known.classes_),
        "seconds": round(perf_counter() - start, 3),
        "bytes": model.stat().st_size,
    }
    if as_json:
        print(json.dumps(facts | ({"cluster": tally.facts()} if tally else {})))
    lines = tally.lines() if tally else []
    if new:
        lines.append(f"new classes ({len(new):,}): {listed(new, 8, show=visible)}")
    size = format_bytes(facts["bytes"])
    lines.append(f"{model}: {counted(n, 'example')} of {counted(len(known.classes_), 'class')}, {size}")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True, markup=False)
