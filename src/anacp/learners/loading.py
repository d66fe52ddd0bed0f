"""From a model file back to a learner."""

from pathlib import Path

from anacp.files import TensorFile
from anacp.learners.base import Learner
from anacp.learners.keeping import MODEL
from anacp.learners.registry import learner

__all__ = ["load", "restored"]


def load(path: str | Path, *, device: str = "cpu") -> Learner:
    """Return the learner saved at `path`, on `device`, ready to predict and to go on learning.

    Raises
    ------
    ModelFileError
        If the file is truncated, not an anacp model, or written in a newer format.
    """
    return restored(TensorFile(path, MODEL), device)


def restored(file: TensorFile, device: str) -> Learner:
    """Return the learner of an open model file."""
    model = learner(file.header["learner"])(**file.header["parameters"] | {"device": device})
    model._restore(file)
    return model
