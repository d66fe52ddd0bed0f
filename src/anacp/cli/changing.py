"""A model file that a command changes in one step: as it was, or as it is to be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anacp import cli, methods
from anacp.cli.say import say
from anacp.cli.stopping import FileBefore, kept
from anacp.errors import InputError
from anacp.files import locked
from anacp.words import counted, listed, visible

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def changing(
    model: Path,
    console: Console,
    *,
    solve: bool,
    exact: bool,
    backbone: str | None = None,
    remote_code: bool = False,
) -> Iterator[methods.Classifier]:
    """Lend the classifier of a file, kept to this process; what became of it is saved if it had another step."""
    with kept(FileBefore(model).words), locked(model):
        classifier = methods.Classifier.load(model, backbone=backbone, remote_code=remote_code)
        before = classifier.history
        yield classifier
        if not classifier.n_examples:
            raise InputError(f"Expected something to remain, got no example left in {model}. Delete it instead.")
        if classifier.history is not before:
            if solve:
                cli.solve_visibly(classifier, console)
            classifier.save(model, exact=exact)


def label_like(classes: Sequence[Any], name: str) -> Any:
    """Return a label that was given as text: the class that shows so, or a new one of the same kind."""
    for label in classes:
        if str(label) == name:
            return label
    kind = type(classes[0]) if len(classes) else str
    if kind in (str, bool):
        return name
    try:
        return kind(name)
    except ValueError as problem:
        raise InputError(f"Expected a label that is a number, as the others are, got {name!r}.") from problem


def say_steps(model: Path, classifier: methods.Classifier, what: str, steps: Sequence[Any], *, as_json: bool) -> None:
    """Say which steps were undone, or redone, and what a model holds now."""
    if as_json:
        facts = {
            "model": str(model),
            what: [{"what": step.what, "when": step.when, "n": step.n} for step in steps],
            "examples": classifier.n_examples,
            "classes": len(classifier.classes_),
        }
        print(json.dumps(facts))
        return
    for step in steps:
        say(f"{what}: {step.what} {counted(step.n, 'example')} of {listed(list(step.classes), 4, show=visible)}")
    say(now_line(model, classifier))


def now_line(model: Path, classifier: methods.Classifier) -> str:
    """Say what a model holds now."""
    return f"{model}: {counted(classifier.n_examples, 'example')} of {counted(len(classifier.classes_), 'class')}"
