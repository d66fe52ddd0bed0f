"""From a model file back to a learner."""

from pathlib import Path

from anacp.learners.base import Learner
from anacp.learners.files import read_model
from anacp.learners.registry import learner

__all__ = ["load"]


def load(path: str | Path, *, device: str = "cpu") -> Learner:
    """Return the learner saved at `path`, on `device`, ready to predict and to go on learning.

    Raises
    ------
    ModelFileError
        If the file is truncated, not an anacp model, or written in a newer format.
    """
    header, tensors = read_model(path)
    model = learner(header["learner"])(**header["parameters"] | {"device": device})
    model._restore(header, tensors)
    return model
