"""`anacp predict`: images, texts, rows of tables or rows of features to class names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from anacp import cli, datasets, learners, methods
from anacp.cli.options import (
    AsJson,
    Backbone,
    Keep,
    MeasuredBy,
    MeasureOption,
    ModelPath,
    OnErrorOption,
    PathColumn,
    RemoteCode,
    TextColumn,
)
from anacp.cli.say import say
from anacp.cli.sources import feature_warnings, lines_of, text_warnings
from anacp.cli.tables import predicted_table
from anacp.words import visible

Ranked = list[tuple[Any, float]]


class Best(NamedTuple):
    """The likeliest classes of one input, and its familiarity if that was asked for; negative: none of these."""

    ranked: Ranked
    familiarity: float | None = None


def predict(
    model: ModelPath,
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Image files, folders or archives; texts for a model of texts; - for lines from standard input; a "
            "table of texts or paths (.csv, .tsv, .json, .jsonl, .xlsx, .parquet), which becomes a table with the "
            "predictions; for a model of features .npz, .parquet or sample:NAME, of which the test rows are taken."
        ),
    ],
    top: Annotated[
        int | None,
        typer.Option(min=1, help="How many classes to name; 3 if left out, 1 in a table.", show_default=False),
    ] = None,
    unknown: Annotated[bool, typer.Option("--unknown", help="Say what is none of the classes learned.")] = False,
    keep: Keep = None,
    by: MeasuredBy = MeasureOption.both,
    on_error: Annotated[OnErrorOption, typer.Option(help="An image that cannot be read.")] = OnErrorOption.refuse,
    text_column: TextColumn = None,
    path_column: PathColumn = None,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Name the likeliest classes of images, texts or rows, with probabilities: one answer for each, in their order."""
    console = cli.Screen(quiet=as_json, stderr=True)
    predictor = methods.Predictor(model, backbone=backbone, remote_code=remote_code)
    strange: list[str] = []
    if predictor.modality == "features":
        asked = _rows(model, inputs, strange)
    else:
        columns = datasets.Columns(text_column, None, path_column)
        asked = datasets.read_unlabelled(inputs, predictor.modality, columns=columns)
    k = top or (3 if asked.table is None else 1)
    with cli.shown_progress(console) as report:
        share = learners.KEEP if unknown and keep is None else keep
        best, problems, found = _answers(predictor, asked.items, k, on_error, report, share, by.value)
    if as_json:
        print(json.dumps([_fact(*one) for one in zip(asked.names, best, problems, strict=True)]))
        return
    if asked.table is not None:
        _write_table(predicted_table(asked.table, [_with_unknown(one) for one in best], k))
    else:
        for name, one in zip(asked.names, best, strict=True):
            words = [label if p is None else f"{visible(label)} {p:.2f}" for label, p in _with_unknown(one)]
            say("\t".join([visible(name), *words]) + "\t" * (not words))
    bad = [(name, problem) for name, problem in zip(asked.names, problems, strict=True) if problem and name.strip()]
    n_blank = sum(not name.strip() for name in asked.names)
    blank = [f"{n_blank:,} of {len(best):,} are blank: their answers are, too"] if n_blank else []
    misleading = [*strange, *(text_warnings(model, found, len(found)) if found else ())]
    for line in [*lines_of("left out", asked.left_out), *lines_of("skipped", bad), *misleading, *blank]:
        say(line, err=True)


def _answers(
    predictor: methods.Predictor,
    items: Any,
    k: int,
    on_error: OnErrorOption,
    report: Any,
    keep: float | None,
    by: Any,
) -> tuple[list[Best], list[str], methods.Answers | None]:
    """Return for each item its likeliest classes or why there are none, and what was answered if anything was."""
    best = [Best([]) for _ in items]
    problems = ["blank" if item is None else "" for item in items]
    places = [place for place, item in enumerate(items) if item is not None]
    if not places:
        return best, problems, None
    given = items if len(places) == len(items) else [items[place] for place in places]
    found = predictor.answer(given, on_error=on_error.value, report=report, keep=keep, by=by)
    heights = [None] * len(found.kept) if found.familiarity is None else found.familiarity.tolist()
    for row, ranked, height in zip(found.kept, found.ranked(k), heights, strict=True):
        best[places[row]] = Best(ranked, height)
    others = sorted(set(range(len(places))) - set(found.kept.tolist()))
    for row, (_, reason) in zip(others, found.skipped, strict=True):
        problems[places[row]] = reason
    return best, problems, found


def _write_table(table: str) -> None:
    """Print a table: for a person so that it does nothing to the terminal, for a program as it is."""
    if sys.stdout.isatty():
        say(table, end="")
    else:
        typer.echo(table, nl=False)


def _with_unknown(best: Best) -> list[tuple[Any, float | None]]:
    """Return the likeliest classes, after the word that it is none of them where it is not."""
    none: list[tuple[Any, float | None]] = [("unknown", None)]
    return [*(none if best.familiarity is not None and best.familiarity < 0 else []), *best.ranked]


def _fact(name: str, best: Best, problem: str) -> dict[str, Any]:
    if problem:
        return {"input": name, "error": problem}
    found = {"input": name, "top": [{"label": label, "probability": p} for label, p in best.ranked]}
    height = best.familiarity
    return found if height is None else found | {"unknown": height < 0, "familiarity": height}


def _rows(model: Path, inputs: list[str], strange: list[str]) -> datasets.Unlabelled:
    """Return rows of features, and add what is to be said of those of another backbone."""
    import numpy as np

    matrices = []
    for name in inputs:
        rows, made_by = datasets.feature_examples(name)
        matrices.append(np.asarray(rows.items))
        strange.extend(feature_warnings(model, name, matrices[-1].shape[1], made_by))
    names = [f"{name} row {row}" for name, x in zip(inputs, matrices, strict=True) for row in range(len(x))]
    return datasets.Unlabelled(names, np.concatenate(matrices))
