"""Answers from a model file at once, without torch and scikit-learn where that gives the same ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anacp.backbones import ExportedBackbone, exported_backbone
from anacp.encoders import EncodingPass, Origin
from anacp.errors import UncheckedFileWarning
from anacp.files import TensorFile
from anacp.items import as_items
from anacp.labels import Labels
from anacp.learners import KEEP, MODEL, By, SolvedLearner, check_unknown
from anacp.methods.answers import Answers
from anacp.methods.asking import Asked, Question
from anacp.methods.header import check_model_header

if TYPE_CHECKING:
    from anacp.methods.answering import Model


class Predictor(Asked):
    """A model file that is only asked, as soon as it can be.

    NumPy and onnxruntime are enough for a file that is solved (`anacp learn` leaves it so) and a backbone that ran on
    this machine before: a photo is named in half a second, of which `anacp.load` needs several. Whatever else there is,
    the model is loaded, and answers. The answers are the same.

    Parameters
    ----------
    path : str or path
        A model file.
    backbone : str, optional
        The one it was learned with, as for `anacp.load`.
    remote_code : bool
        Run the Python files that come with that backbone, see `anacp.backbones.backbone`.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> anacp.NCM().partial_fit(sample.x_train, sample.y_train).solve(probabilities=True).save("intents.anacp")
    >>> anacp.Predictor("intents.anacp").predict(sample.x_test[:1]).tolist()
    ['translate']
    """

    def __init__(self, path: str | Path, *, backbone: str | None = None, remote_code: bool = False) -> None:
        self._path, self._options = path, {"backbone": backbone, "remote_code": remote_code}
        self._solved: SolvedLearner | None = None
        self._exported: ExportedBackbone | None = None
        if backbone is None:
            self._solved, self._exported = _quickly(path)
        if self._solved is None:
            self._model  # noqa: B018 (what is wrong with it is said now)

    @property
    def loaded(self) -> bool:
        """Whether the whole model was needed."""
        return "_model" in self.__dict__

    @property
    def modality(self) -> str:
        """What goes in: "image", "text", or "features"."""
        if self._solved is not None:
            return self._exported.modality if self._exported else "features"
        from anacp.methods.answering import modality_of

        return modality_of(self._model)

    @property
    def classes_(self) -> Labels:
        """The classes that it knows, sorted."""
        return self._solved.classes if self._solved is not None else self._model.classes_

    def _answered(self, inputs: Sequence[Any], question: Question) -> Answers:
        if self._solved is not None and (question.keep is None or self._solved.familiarity is not None):
            found = self._at_once(self._solved, inputs, question)
            if found is not None:
                return found
        from anacp.methods.answering import answer

        return answer(self._model, inputs, question)

    def predict(self, inputs: Sequence[Any], *, unknown: Any = None, keep: float = KEEP, by: By = "both") -> Labels:
        """Return the most likely label of each input, or `unknown`, if given, as by `Learner.predict`."""  # (n,)
        if unknown is None:
            return self.answer(inputs).labels
        check_unknown(unknown, self.classes_)
        return self.answer(inputs, keep=keep, by=by).labels_or(unknown)

    @cached_property
    def _model(self) -> Model:
        from anacp.methods.loading import load

        return load(self._path, **self._options)  # type: ignore[arg-type]

    def _at_once(self, solved: SolvedLearner, inputs: Sequence[Any], question: Question) -> Answers | None:
        """Return the answers; None where the model itself must be asked, or must say what is wrong."""
        if self._exported is None:
            x = np.asarray(inputs)
            judged = _judged(solved, x, question)
            return judged and Answers(solved.classes, judged[0], np.arange(len(x)), familiarity=judged[1])
        items = as_items(inputs)
        if not items or question.on_error not in ("refuse", "skip"):
            return None
        encoding = EncodingPass((self._exported,), items, store=None, on_error=question.on_error, wanted=None)
        found = encoding.run(question.report)
        Answers.check(items, found)
        judged = _judged(solved, found.x, question)
        return judged and Answers.of(items, found, solved.classes, *judged)


def _judged(
    solved: SolvedLearner, x: NDArray[Any], question: Question
) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
    """Return probabilities and, if asked for, the familiarity; None where NumPy cannot be sure of them."""
    probabilities = solved.probabilities(x)
    if probabilities is None or question.keep is None:
        return None if probabilities is None else (probabilities, None)
    familiarity = solved.above(x, keep=question.keep, by=question.by)
    return None if familiarity is None else (probabilities, familiarity)


def _quickly(path: str | Path) -> tuple[SolvedLearner | None, ExportedBackbone | None]:
    """Return what answers without torch: a solved learner, and the backbone that a classifier has besides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedFileWarning)  # such a file is loaded, which says it
        file = TensorFile(path, MODEL)
    kind = check_model_header(file)
    if kind == "trained" or "adaptation" in file.header:
        return None, None
    solved = SolvedLearner.of(file)
    if kind == "learner" or solved is None:
        return solved, None
    origin = Origin.restored(file.header["backbone"])
    exported = exported_backbone(origin.name, origin.fingerprint, origin.modality, origin.n_features)
    fits = exported is not None and origin.n_features == solved.n_features
    return (solved, exported) if fits else (None, None)
