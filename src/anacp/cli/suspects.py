"""`anacp suspects`: learned examples whose label is likely wrong."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from anacp import cli, datasets, learners, methods
from anacp.cli.options import AsJson, Backbone, Examples, Label, ModelPath, RemoteCode, Split
from anacp.cli.say import say
from anacp.errors import InputError
from anacp.words import counted, visible


def suspects(
    model: ModelPath,
    examples: Examples,
    label: Label = None,
    split: Split = None,
    top: Annotated[int, typer.Option(min=1, help="How many to list; --json lists all.")] = 20,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """List learned examples that a model without them would take for another class, the surest first."""
    import numpy as np

    console = cli.Screen(quiet=as_json)
    classifier = methods.Classifier.load(model, backbone=backbone, remote_code=remote_code)
    every = datasets.read_labelled(*examples, label=label, split=split, modality=classifier.modality)
    with cli.shown_progress(console) as report:
        known = classifier.is_known(list(every.items), every.labels)
        if not known.any():
            raise InputError(
                f"Expected examples that {model} learned in {', '.join(examples)}, got none of {len(every)}."
            )
        learned, n_others = every.take(known), int((~known).sum())
        x = classifier.features(list(learned.items), report=report)
    classes, scores, _ = learners.leave_one_out(x, learned.labels)
    own, rows = np.searchsorted(classes, learned.labels), np.arange(len(x))
    margin = scores[rows, own] - np.where(np.arange(len(classes)) == own[:, None], -np.inf, scores).max(1)
    wrong = [row for row in np.argsort(margin, kind="stable").tolist() if margin[row] < 0]
    found = [
        {"input": str(learned.items[row]), "label": label, "rather": rather, "margin": round(float(-margin[row]), 3)}
        for row in wrong
        for label, rather in [(learned.labels[row].item(), classes[scores[row].argmax()].item())]
    ]
    if as_json:
        print(json.dumps({"model": str(model), "examples": len(x), "not_learned": n_others, "suspects": found}))
        return
    if n_others:
        say(f"left out: {counted(n_others, 'example')} that {model} did not learn, or not as this class")
    say(f"{counted(len(found), 'suspect')} among {counted(len(x), 'example')}")
    for one in found[:top]:
        say(f"{one['margin']:6.2f}  {visible(one['input'])}: {visible(one['label'])}, rather {visible(one['rather'])}")
