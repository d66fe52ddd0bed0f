"""`anacp predict`: images, texts or rows of features to class names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from anacp import cli, datasets, learners, methods
from anacp.cli.options import AsJson, Backbone, Keep, MeasuredBy, MeasureOption, ModelPath, OnErrorOption, RemoteCode
from anacp.cli.say import say
from anacp.errors import InputError
from anacp.words import visible


def predict(
    model: ModelPath,
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Image files or folders; texts for a model of texts, - for lines from standard input; "
            "for a model of features .npz, .parquet or sample:NAME, of which the test rows are taken."
        ),
    ],
    top: Annotated[int, typer.Option(min=1, help="How many classes to name.")] = 3,
    unknown: Annotated[bool, typer.Option("--unknown", help="Say what is none of the classes learned.")] = False,
    keep: Keep = None,
    by: MeasuredBy = MeasureOption.both,
    on_error: Annotated[OnErrorOption, typer.Option(help="An image that cannot be read.")] = OnErrorOption.refuse,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Name the likeliest classes of images, texts or rows of features, with probabilities."""
    console = cli.Screen(quiet=as_json, stderr=True)
    predictor = methods.Predictor(model, backbone=backbone, remote_code=remote_code)
    names, items = {"text": _texts, "image": _images, "features": _rows}[predictor.modality](inputs)
    with cli.shown_progress(console) as report:
        share = learners.KEEP if unknown and keep is None else keep
        found = predictor.answer(items, on_error=on_error.value, report=report, keep=share, by=by.value)
    named, ranked = [names[row] for row in found.kept], found.ranked(top)
    heights = [None] * len(named) if found.familiarity is None else found.familiarity.tolist()
    if as_json:
        rows: list[dict[str, Any]] = [
            {"input": name, "top": [{"label": label, "probability": p} for label, p in best]}
            | ({} if height is None else {"unknown": height < 0, "familiarity": height})
            for name, best, height in zip(named, ranked, heights, strict=True)
        ]
        print(json.dumps(rows + [{"input": str(item), "error": reason} for item, reason in found.skipped]))
        return
    for name, best, height in zip(named, ranked, heights, strict=True):
        none = ["unknown"] if height is not None and height < 0 else []
        likely = [f"{visible(label)} {probability:.2f}" for label, probability in best]
        say("\t".join([visible(name), *none, *likely]))
    for item, reason in found.skipped:
        say(f"skipped {visible(item)}: {visible(reason)}", err=True)


def _texts(inputs: list[str]) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    for text in inputs:
        texts += [line.rstrip("\r\n") for line in sys.stdin] if text == "-" else [text]
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise InputError("Expected texts, got none but blank lines. Give a text, or lines on standard input for -.")
    return texts, texts


def _images(inputs: list[str]) -> tuple[list[str], list[Path]]:
    files: list[Path] = []
    for name in inputs:
        path = Path(name).expanduser()
        found = datasets.image_files(path) if path.is_dir() else [path]
        if not found:
            raise InputError(f"Expected images in the folder {path}, got none.")
        files += found
    return [str(file) for file in files], files


def _rows(inputs: list[str]) -> tuple[list[str], Any]:
    import numpy as np

    matrices = [np.asarray(datasets.feature_examples(name).items) for name in inputs]
    names = [f"{name} row {row}" for name, x in zip(inputs, matrices, strict=True) for row in range(len(x))]
    return names, np.concatenate(matrices)
