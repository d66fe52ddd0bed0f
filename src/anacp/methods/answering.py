"""One question to a model of any kind."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anacp.errors import ImageError, InputError, UnavailableError
from anacp.items import as_items, open_image
from anacp.learners import Learner
from anacp.methods.answers import Answers
from anacp.methods.asking import Question
from anacp.methods.classifier import Classifier
from anacp.methods.trained import TrainedMethod

Model = Learner[Any] | Classifier | TrainedMethod


def modality_of(model: Model) -> str:
    """Return what goes in: "image", "text", or "features"."""
    return "features" if isinstance(model, Learner) else model.modality


def answer(model: Model, inputs: Sequence[Any], question: Question | None = None) -> Answers:
    """Return the probabilities of the inputs that can be read, which these are, and what is wrong with the others.

    Those of a trained method are the softmax of its scores, which nothing has calibrated.
    """
    asked = question or Question()
    if isinstance(model, Classifier):
        return model._answered(inputs, asked)
    if isinstance(model, Learner):
        x = np.asarray(inputs)
        classes, probabilities, familiarity = model.judged(x, keep=asked.keep, by=asked.by)
        return Answers(classes, probabilities, np.arange(len(x)), familiarity=familiarity)
    if asked.keep is not None:
        raise UnavailableError(
            f"Expected a model that remembers how its classes scatter, got {type(model).__name__}, a trained network. "
            "It cannot tell what it never learned; ask it without."
        )
    items = as_items(inputs)
    skipped = _unreadable(items) if asked.on_error == "skip" and model.modality == "image" else {}
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
