"""What is done with a learned model besides learning and predicting: merged, unlearned from, measured, saved."""

import copy
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from torch import Tensor

from anacp.errors import MismatchError
from anacp.files import FileKind, TensorFile, write_file
from anacp.learners.form import LearnerForm
from anacp.learners.inputs import check_examples
from anacp.learners.memory import Memory
from anacp.learners.summary import Part, table

__all__ = ["MODEL", "KeptLearner"]

MODEL = FileKind("anacp-model", 1, "an anacp model")
SOLUTION = "solution."


class KeptLearner(LearnerForm):
    """A learner as a thing to keep."""

    def unlearn(self, x: ArrayLike | Tensor, y: ArrayLike | Tensor) -> Self:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. The examples must have been learned before; what can be checked
        (the class is known, and has that many examples) is checked, and a refusal changes nothing.
        """
        self._check_learned()
        rows, labels = check_examples(self, x, y, self.dtype, first=False)
        self._check_kind(labels)
        self._memory.unlearn(self._prepared(rows), labels)
        return self._shrunk()

    def unlearn_class(self, label: object) -> Self:
        """Take a class out exactly, without its examples. Only for methods that keep every class apart.

        Raises
        ------
        InputError
            If the class is unknown, or if this method pools classes: then `unlearn` its examples.
        """
        self._check_learned()
        self._memory.unlearn_class(label, type(self).__name__)
        return self._shrunk()

    def _shrunk(self) -> Self:
        self.classes_ = self._memory.classes
        self._solved.parameters = None
        if not len(self.classes_):
            self._forget()
        return self

    def __add__(self, other: Self) -> Self:
        """Return a new model: the one that learned the data of both."""
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = self.get_params(), other.get_params()
        differing = [f"{name} ({mine[name]!r} and {theirs[name]!r})" for name in mine if mine[name] != theirs[name]]
        if differing:
            raise MismatchError(f"Expected models of equal parameters, got different {', '.join(differing)}.")
        if not (self._learned and other._learned):
            return copy.deepcopy(self if self._learned else other)
        self._check_learned()
        other._check_learned()
        if self.n_features_in_ != other.n_features_in_:
            raise MismatchError(
                f"Expected two models of one width, got {self.n_features_in_} and {other.n_features_in_} features. "
                "Both must learn features of the same backbone."
            )
        self._check_kind(other.classes_)
        result = cast(Self, clone(self))
        for name in {"n_features_in_", "feature_names_in_"} & self.__dict__.keys():
            setattr(result, name, getattr(self, name))
        result._begin(self._memory.merged(other._memory))
        return result

    def __radd__(self, other: object) -> Self:
        """Let `sum(models)` work."""
        return copy.deepcopy(self) if other == 0 else NotImplemented

    # Files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file, all or nothing; `anacp.load` reads it back.

        A model that is solved (by `solve` or a prediction) is saved with its solution and predicts at once when it is
        loaded; one that is not solves on its first prediction.
        """
        write_file(path, MODEL, *self._contents())

    def _contents(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return header and tensors of a model file; `_restore` takes them back."""
        self._check_learned()
        header = {
            "learner": type(self).__name__,
            "parameters": self.get_params() | {"device": "cpu"},
            "classes": self.classes_.tolist(),
            "classes_dtype": self.classes_.dtype.str,
            "n_features": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", np.empty(0)).tolist(),
        }
        tensors = self._memory.tensors()
        if self._is_solved:
            header["solution"] = {"sharpness": self._solved.sharpness}
            tensors |= {f"{SOLUTION}{name}": tensor for name, tensor in self._solved.solution.items()}
        return header, tensors

    def _restore(self, file: TensorFile) -> None:
        """Take over a saved model; its statistics, most of the file, are read when they are needed first."""
        header = file.header
        self._check_parameters()
        self.n_features_in_ = header["n_features"]
        if header["feature_names"]:
            self.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        classes = np.array(header["classes"], dtype=np.dtype(header["classes_dtype"]))
        empty = self._statistics(self.n_features_in_, "meta")
        self._begin(Memory(empty, classes, classes, self.device, file=file))
        if header.get("solution") is not None:
            solution = {name: tensor.to(self.device) for name, tensor in file.tensors(SOLUTION).items()}
            self._solved.take(solution, self.get_params(), header["solution"]["sharpness"])

    # Sizes ------------------------------------------------------------------------------------------------------

    def parts(
        self, *, n_features: int | None = None, n_classes: int | None = None, n_rows: int | None = None
    ) -> list[Part]:
        """Return what the model stores, part by part; with sizes given, what it would store of such data.

        Symmetric matrices count their distinct numbers, as in a model file. The number of rows matters only to methods
        that keep some of them. A solution is not counted: it can always be solved again.
        """
        if n_features is None and n_classes is None and n_rows is None:
            self._check_learned()
            self._memory.absorb()
            statistics = {name: statistic.outline() for name, statistic in self._memory.statistics.items()}
        else:
            self._check_parameters()
            n_features, n_classes, n_rows = self._sizes(n_features, n_classes, n_rows)
            empty = self._statistics(n_features, "meta").items()
            statistics = {name: statistic.expected(n_classes, n_rows) for name, statistic in empty}
        return [
            Part(f"{name} {part}", tensor.numel(), tensor.numel() * tensor.element_size())
            for name, statistic in statistics.items()
            for part, tensor in statistic.tensors().items()
        ]

    def summary(
        self, *, n_features: int | None = None, n_classes: int | None = None, n_rows: int | None = None
    ) -> None:
        """Print what is stored, numbers and bytes by part. Give sizes to see the cost before it is paid."""
        parts = self.parts(n_features=n_features, n_classes=n_classes, n_rows=n_rows)
        n_features, n_classes, _ = self._sizes(n_features, n_classes, n_rows)
        rebuilt = self._rebuilt(n_features, n_classes)
        print(table(f"{type(self).__name__}: {n_classes} classes, {n_features} features", parts, rebuilt))

    def _sizes(self, n_features: int | None, n_classes: int | None, n_rows: int | None) -> tuple[int, int, int]:
        """Fill in what is not given from what was learned; the number of rows may stay unknown."""
        if n_features is None or n_classes is None:
            self._check_learned()
        if n_rows is None:
            n_rows = self._memory.moments.n if self._learned else 0
        return n_features or self.n_features_in_, n_classes or len(self.classes_), n_rows
