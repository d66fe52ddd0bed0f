"""From a model file back to what wrote it."""

from pathlib import Path

from anacp.files import TensorFile
from anacp.learners import Learner
from anacp.learners import load as load_learner
from anacp.learners.keeping import MODEL
from anacp.methods.classifier import Classifier

__all__ = ["load"]


def load(path: str | Path, *, device: str = "cpu") -> Learner | Classifier:
    """Return the learner or the classifier saved at `path`, ready to predict and to go on learning.

    Raises
    ------
    ModelFileError
        If the file is truncated, not an anacp model, or written in a newer format.
    """
    is_classifier = "backbone" in TensorFile(path, MODEL).header
    return Classifier.load(path, device=device) if is_classifier else load_learner(path, device=device)
