"""A learner as the contents of a model file, and back."""

from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from anacp.catalogue import entry_of
from anacp.files import FileKind, TensorFile
from anacp.learners.knowledge import Knowledge
from anacp.learners.memory import Memory, UnreadStatistics
from anacp.learners.solution import Solved

if TYPE_CHECKING:
    from anacp.learners.base import Learner

MODEL = FileKind("anacp-model", 1, "an anacp model")
SOLUTION = "solution."


def contents(learner: "Learner[Any]") -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return header and tensors of a learner that nobody changes meanwhile; `restored` takes them back."""
    known, entry = learner._known(), entry_of(type(learner))
    header = {
        "learner": entry.name if entry else type(learner).__name__,
        "parameters": learner.get_params() | {"device": "cpu"},
        "classes": known.memory.classes.tolist(),
        "classes_dtype": known.memory.classes.dtype.str,
        "n_features": learner.n_features_in_,
        "feature_names": getattr(learner, "feature_names_in_", np.empty(0)).tolist(),
    }
    tensors = known.memory.tensors()
    solved = known.solved_with(learner.get_params())
    if solved is not None:
        header["solution"] = {"sharpness": solved.sharpness}
        tensors |= {f"{SOLUTION}{name}": tensor for name, tensor in solved.solution.tensors().items()}
    return header, tensors


def restored(cls: "type[Learner[Any]]", file: TensorFile, *, device: str = "cpu") -> "Learner[Any]":
    """Return the learner of a model file; its statistics, most of the file, are read when they are needed first."""
    header = file.header
    learner = cls(**header["parameters"] | {"device": device})
    learner._check_parameters()
    learner.n_features_in_ = header["n_features"]
    if header["feature_names"]:
        learner.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    classes = np.array(header["classes"], dtype=np.dtype(header["classes_dtype"]))
    outlines = learner._statistics(learner.n_features_in_, "meta")
    memory = Memory(UnreadStatistics(file, outlines, device), classes, device)
    learner._knowledge = Knowledge(memory, learner.get_params())
    if header.get("solution") is not None:
        tensors = {name: tensor.to(device) for name, tensor in file.tensors(SOLUTION).items()}
        solution = learner._restored(tensors, memory)
        learner._knowledge.solved = Solved(solution, learner.get_params(), header["solution"]["sharpness"])
    return learner
