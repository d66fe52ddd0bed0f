"""One question to a model of any kind."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anacp.errors import ImageError, InputError
from anacp.items import OnError, as_items, open_image
from anacp.learners import Learner
from anacp.methods.answers import Answers
from anacp.methods.classifier import Classifier
from anacp.methods.trained import TrainedMethod
from anacp.progress import Report

Model = Learner[Any] | Classifier | TrainedMethod


def modality_of(model: Model) -> str:
    """Return what goes in: "image", "text", or "features"."""
    return "features" if isinstance(model, Learner) else model.modality


def answer(
    model: Model, inputs: Sequence[Any], *, on_error: OnError = "refuse", report: Report | None = None
) -> Answers:
    """Return the probabilities of the inputs that can be read, which these are, and what is wrong with the others.

    Those of a trained method are the softmax of its scores, which nothing has calibrated.
    """
    if isinstance(model, Classifier):
        return model.answer(inputs, on_error=on_error, report=report)
    if isinstance(model, Learner):
        x = np.asarray(inputs)
        return Answers(model.classes_, model.predict_proba(x), np.arange(len(x)))
    items = as_items(inputs)
    skipped = _unreadable(items) if on_error == "skip" and model.modality == "image" else {}
    kept = [position for position in range(len(items)) if position not in skipped]
    if not kept:
        raise InputError(f"Expected inputs that can be read, got none of {len(items)}.")
    probabilities = model.predict_proba([items[position] for position in kept])
    reasons = [(items[position], reason) for position, reason in skipped.items()]
    return Answers(model.classes_, probabilities, np.array(kept, np.intp), reasons)


def _unreadable(items: list[Any]) -> dict[int, str]:
    found = {}
    for position, item in enumerate(items):
        try:
            open_image(item)
        except ImageError as problem:
            found[position] = str(problem)
    return found
