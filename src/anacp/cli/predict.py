"""`anacp predict`: images or texts to class names."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from anacp.cli.options import AsJson, Model, OnError
from anacp.cli.progress import extraction_bar
from anacp.datasets import image_files
from anacp.errors import InputError
from anacp.methods import Classifier

__all__ = ["predict"]


def predict(
    model: Model,
    inputs: Annotated[
        list[str],
        typer.Argument(help="Image files or folders; texts for a model of texts, - for lines from standard input."),
    ],
    top: Annotated[int, typer.Option(min=1, help="How many classes to name.")] = 3,
    on_error: Annotated[OnError, typer.Option(help="An image that cannot be read.")] = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Name the likeliest classes of images or texts, with probabilities."""
    console = Console(quiet=as_json, stderr=True)
    classifier = Classifier.load(model)
    items: list[Any] = _texts(inputs) if classifier.origin.modality == "text" else _images(inputs)
    with extraction_bar(console) as follow:
        found = classifier.encode(items, on_error=on_error.value, progress=follow)
    if not len(found.x):
        raise InputError(f"Expected images that can be read, got none of {len(items)}: {found.skipped[0][1]}")
    ranked = classifier.ranked(classifier.learner.predict_proba(found.x), top)
    named = [items[row] for row in found.kept]
    if as_json:
        rows: list[dict[str, Any]] = [
            {"input": str(item), "top": [{"label": label, "probability": p} for label, p in best]}
            for item, best in zip(named, ranked, strict=True)
        ]
        print(json.dumps(rows + [{"input": str(item), "error": reason} for item, reason in found.skipped]))
        return
    for item, best in zip(named, ranked, strict=True):
        typer.echo("\t".join([str(item), *(f"{label} {probability:.2f}" for label, probability in best)]))
    for item, reason in found.skipped:
        typer.echo(f"skipped {item}: {reason}", err=True)


def _texts(inputs: list[str]) -> list[str]:
    texts: list[str] = []
    for text in inputs:
        texts += [line.rstrip("\r\n") for line in sys.stdin] if text == "-" else [text]
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise InputError("Expected texts, got none but blank lines. Give a text, or lines on standard input for -.")
    return texts


def _images(inputs: list[str]) -> list[Path]:
    files: list[Path] = []
    for name in inputs:
        path = Path(name).expanduser()
        found = image_files(path) if path.is_dir() else [path]
        if not found:
            raise InputError(f"Expected images in the folder {path}, got none.")
        files += found
    return files
