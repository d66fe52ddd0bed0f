"""From a model file back to what wrote it."""

from pathlib import Path

from anacp.learners import Learner
from anacp.learners import load as load_learner
from anacp.learners.files import read_model
from anacp.methods.classifier import Classifier

__all__ = ["load"]


def load(path: str | Path, *, device: str = "cpu") -> Learner | Classifier:
    """Return the learner or the classifier saved at `path`, ready to predict and to go on learning.

    Raises
    ------
    ModelFileError
        If the file is truncated, not an anacp model, or written in a newer format.
    """
    header, _ = read_model(path, only=())
    return Classifier.load(path, device=device) if "backbone" in header else load_learner(path, device=device)
