"""From a model file back to what wrote it."""

from pathlib import Path

from anacp.files import TensorFile
from anacp.learners import Learner
from anacp.learners import load as load_learner
from anacp.learners.keeping import MODEL
from anacp.methods.classifier import Classifier
from anacp.methods.trained import TrainedMethod

__all__ = ["load"]


def load(path: str | Path, *, device: str = "cpu") -> Learner | Classifier | TrainedMethod:
    """Return the learner, the classifier or the trained method saved at `path`, ready to predict and to go on learning.

    Raises
    ------
    ModelFileError
        If the file is truncated, not an anacp model, or written in a newer format.
    """
    header = TensorFile(path, MODEL).header
    if "method" in header:
        return TrainedMethod.load(path)
    return Classifier.load(path, device=device) if "backbone" in header else load_learner(path, device=device)
