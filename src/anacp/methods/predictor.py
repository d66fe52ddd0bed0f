"""Answers from a model file at once, without torch and scikit-learn where that gives the same ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anacp.backbones import ExportedBackbone, exported_backbone
from anacp.encoders import EncodingPass, Origin
from anacp.errors import InputError, UncheckedFileWarning
from anacp.files import TensorFile
from anacp.items import OnError, as_items
from anacp.labels import Labels
from anacp.learners import KEEP, MODEL, By, SolvedLearner, check_unknown
from anacp.methods.answers import Answers, name_of
from anacp.methods.header import check_model_header
from anacp.progress import Report

if TYPE_CHECKING:
    from anacp.methods.answering import Model


class Predictor:
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

    def answer(
        self,
        inputs: Sequence[Any],
        *,
        on_error: OnError = "refuse",
        report: Report | None = None,
        keep: float | None = None,
        by: By = "both",
    ) -> Answers:
        """Return the probabilities of the inputs that can be read, which these are, and what is wrong with others.

        With `keep`, the familiarity of each is measured too, as by `Learner.familiarity`.
        """
        if self._solved is not None and (keep is None or self._solved.familiarity is not None):
            found = self._answered(self._solved, inputs, on_error, report, keep, by)
            if found is not None:
                return found
        from anacp.methods.answering import answer

        return answer(self._model, inputs, on_error=on_error, report=report, keep=keep, by=by)

    def predict(self, inputs: Sequence[Any], *, unknown: Any = None, keep: float = KEEP, by: By = "both") -> Labels:
        """Return the most likely label of each input, or `unknown`, if given, as by `Learner.predict`."""  # (n,)
        if unknown is None:
            return self.answer(inputs).labels
        check_unknown(unknown, self.classes_)
        return self.answer(inputs, keep=keep, by=by).labels_or(unknown)

    def predict_proba(self, inputs: Sequence[Any]) -> NDArray[Any]:
        """Return one probability for each input and class, in the order of `classes_`."""  # (n, c)
        return self.answer(inputs).probabilities

    def top(self, inputs: Sequence[Any], k: int = 3) -> list[list[tuple[Any, float]]]:
        """Return for each input the k most likely labels with their probabilities, the likeliest first."""
        return self.answer(inputs).ranked(k)

    @cached_property
    def _model(self) -> Model:
        from anacp.methods.loading import load

        return load(self._path, **self._options)  # type: ignore[arg-type]

    def _answered(
        self,
        solved: SolvedLearner,
        inputs: Sequence[Any],
        on_error: OnError,
        report: Report | None,
        keep: float | None,
        by: By,
    ) -> Answers | None:
        """Return the answers; None where the model itself must be asked, or must say what is wrong."""
        if self._exported is None:
            x = np.asarray(inputs)
            return _answers(solved, x, np.arange(len(x)), keep, by)
        items = as_items(inputs)
        if not items or on_error not in ("refuse", "skip"):
            return None
        found = EncodingPass((self._exported,), items, store=None, on_error=on_error, wanted=None).run(report)
        if not len(found.x):
            raise InputError(f"Expected inputs that can be read, got none of {len(items)}: {found.skipped[0][1]}")
        answers = _answers(solved, found.x, found.kept, keep, by)
        cut = [items[position] for position in found.cut]
        shown = [name_of(items[position], position) for position in found.kept]
        return answers and replace(answers, skipped=found.skipped, digests=found.digests, inputs=shown, cut=cut)


def _answers(
    solved: SolvedLearner, x: NDArray[Any], kept: NDArray[np.intp], keep: float | None, by: By
) -> Answers | None:
    probabilities = solved.probabilities(x)
    if probabilities is None:
        return None
    familiarity = None if keep is None else solved.above(x, keep=keep, by=by)
    uncertain = keep is not None and familiarity is None
    return None if uncertain else Answers(solved.classes, probabilities, kept, familiarity=familiarity)


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
