"""From a model file back to what wrote it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from anacp.files import TensorFile
from anacp.learners import MODEL, Learner, restored
from anacp.methods.classifier import Classifier
from anacp.methods.finding import find_method
from anacp.methods.trained import TrainedMethod

ModelKind = Literal["learner", "classifier", "trained"]


def model_kind(header: Mapping[str, Any]) -> ModelKind:
    """Return what a model file states that it is; files of the first version show it by what they have."""
    if "kind" in header:
        kind: ModelKind = header["kind"]
        return kind
    return "trained" if "method" in header else "classifier" if "backbone" in header else "learner"


def load(path: str | Path, *, device: str = "cpu") -> Learner[Any] | Classifier | TrainedMethod:
    """Return the learner, the classifier or the trained method saved at `path`, ready to predict and to go on learning.

    Raises
    ------
    ModelFileError
        If the file is truncated, not an anacp model, or written in a newer format.
    UnknownNameError
        If its method is not known here; give its file once, or install its package.
    """
    file = TensorFile(path, MODEL)
    kind = model_kind(file.header)
    if kind == "trained":
        find_method(file.header["method"])
        return TrainedMethod.load(path)
    if kind == "classifier":
        return Classifier.load(path, device=device)
    return restored(find_method(file.header["learner"]).make, file, device=device)
