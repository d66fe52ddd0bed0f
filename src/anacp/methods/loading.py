"""From a model file back to what wrote it."""

from pathlib import Path
from typing import Any, Literal, cast

from anacp.backbones import Backbone
from anacp.files import TensorFile
from anacp.learners import KINDS, LEARNER, MODEL, Learner, restored
from anacp.methods.classifier import CLASSIFIER, Classifier
from anacp.methods.finding import find_method, learner_class
from anacp.methods.trained import TRAINED, TrainedMethod

ModelKind = Literal["learner", "classifier", "trained"]


def model_kind(file: TensorFile) -> ModelKind:
    """Return what a model file states that it is; files of the first version show it by what they have."""
    header = file.header
    if "kind" in header or file.sealed:
        if header.get("kind") not in KINDS:
            raise file.damage(f"its kind is none of {', '.join(KINDS)}")
        return cast(ModelKind, header["kind"])
    return "trained" if "method" in header else "classifier" if "backbone" in header else "learner"


def check_model_header(file: TensorFile) -> ModelKind:
    """Return the kind of a model file whose header says all that it must, and nothing else."""
    kind = model_kind(file)
    file.check_header({"learner": LEARNER, "classifier": LEARNER | CLASSIFIER, "trained": TRAINED}[kind])
    return kind


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
