"""From a model file back to what wrote it."""

from pathlib import Path
from typing import Any

from anacp.backbones import Backbone
from anacp.files import TensorFile
from anacp.learners import MODEL, Learner, restored
from anacp.methods.classifier import Classifier
from anacp.methods.finding import find_method, learner_class
from anacp.methods.header import check_model_header
from anacp.methods.trained import TrainedMethod


def load(
    path: str | Path, *, device: str = "cpu", backbone: str | Backbone | None = None, remote_code: bool = False
) -> Learner[Any] | Classifier | TrainedMethod:
    """Return the learner, the classifier or the trained method saved at `path`, ready to predict and to go on learning.

    Parameters
    ----------
    path : str or path
        A model file.
    device : str
        Any torch device.
    backbone : str or Backbone, optional
        The one it was learned with. Without one, the file's own is used if it is a preset or was named on this machine
        before; nothing is fetched for a name that only a file gives.
    remote_code : bool
        Run the Python files that come with a backbone given by name, see `anacp.backbones.backbone`.

    Raises
    ------
    ModelFileError
        If the file is truncated, changed, inconsistent, not an anacp model, or written in a newer format.
    UnknownNameError
        If its method is not known here; give its file once, or install its package.
    UnavailableError
        If its backbone is not known here.
    """
    file = TensorFile(path, MODEL)
    kind = check_model_header(file)
    if kind == "trained":
        find_method(file.header["method"])
        return TrainedMethod.load(file, backbone=backbone, remote_code=remote_code)
    if kind == "classifier":
        return Classifier.load(file, device=device, backbone=backbone, remote_code=remote_code)
    return restored(learner_class(file), file, device=device)
