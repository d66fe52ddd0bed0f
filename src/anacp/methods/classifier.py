"""The everyday way in: photos or sentences and their labels, no feature matrices."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.backbones.inputs import OnError
from anacp.errors import InputError, ParameterError
from anacp.learners.inputs import Labels
from anacp.methods.encoding import Encoded, ProgressCallback, encode
from anacp.methods.given import as_items
from anacp.methods.keeping import KeptClassifier
from anacp.methods.records import Forgotten, Learned

__all__ = ["Classifier"]


class Classifier(KeptClassifier):
    """A frozen backbone and a learner as one: images or texts in, labels out, new classes at any time.

    Every example counts once: what was learned before is recognised by its content (or label and content) and left
    out, so that learning a folder again adds only what is new.

    Parameters
    ----------
    backbone : str or Backbone, default="efficientnet-lite0"
        A name ("efficientnet-lite0" for images, "minilm-l6" for texts, any other of `anacp.backbones.PRESETS`, or
        "hf:NAME_OR_FOLDER"), or a backbone. By name, it is loaded on first use.
    learner : str or Learner, default="AnaCP"
        The name of a method, or a learner that has learned nothing yet, whose parameters are taken.
    engine : {"auto", "onnx", "torch"}, default="auto"
        What runs a backbone given by name.
    device : str, default="cpu"
        Any torch device, for backbone and learner given by name.
    store : FeatureStore, optional
        Where features are kept, so that an extraction that was stopped goes on where it was. Without one nothing but
        the model file is ever written.
    adaptation : Adaptation, optional
        How the backbone is adapted, see `anacp.adaptation.adapt`; the model file keeps it.
    concatenate : bool, default=False
        Frozen and adapted features side by side (APER), instead of the adapted ones.

    Attributes
    ----------
    learner : Learner
        What predicts from features.
    """

    # Learning ---------------------------------------------------------------------------------------------------

    def learn(
        self,
        inputs: Sequence[Any],
        labels: ArrayLike,
        *,
        on_error: OnError = "refuse",
        progress: ProgressCallback | None = None,
    ) -> Learned:
        """Learn more examples, of old classes, new classes, or both. If this fails, nothing has changed.

        Parameters
        ----------
        inputs : sequence
            Texts, for a text backbone; paths, Pillow images or images of `anacp.datasets` for an image backbone.
        labels : array-like of shape (n,)
            One label an input: text, numbers or booleans.
        on_error : {"refuse", "skip"}
            What to do with an image that cannot be read; those skipped are in the result.
        progress : callable, optional
            Called with an `anacp.features.Progress` now and then.
        """
        examples = self._given(inputs, labels)
        distinct = examples.distinct()
        new = distinct.take(np.flatnonzero(~self._known.contains(distinct)))
        if not len(new):
            return Learned(0, len(examples), [])
        before = set(self.classes_.tolist()) if self.learner._learned else set()
        start = perf_counter()
        found = encode(self.backbone, new.items, store=self.store, on_error=on_error, progress=progress)
        encoded = perf_counter()
        learned = new.take(found.kept)
        if len(learned):
            self.learner.partial_fit(found.x, learned.labels)
            self._known = self._known.plus(learned)
        return Learned(
            n_new=len(learned),
            n_known=len(examples) - len(new),
            new_classes=[label for label in np.unique(learned.labels).tolist() if label not in before],
            skipped=found.skipped,
            feature_seconds=encoded - start,
            learn_seconds=perf_counter() - encoded,
            entry=found.entry,
        )

    def forget(
        self,
        inputs: Sequence[Any],
        labels: ArrayLike,
        *,
        on_unknown: OnError = "refuse",
        progress: ProgressCallback | None = None,
    ) -> Forgotten:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. An example that was never learned is refused or, with
        `on_unknown="skip"`, left out and counted. If this fails, nothing has changed.
        """
        classes = self.classes_.tolist()
        examples = self._given(inputs, labels)
        known = self._known.contains(examples)
        if on_unknown == "refuse" and not known.all():
            row = int(np.flatnonzero(~known)[0])
            raise InputError(
                f"Expected examples learned before, got {int((~known).sum())} that were not, such as "
                f"{examples.items[row]} as {examples.labels.tolist()[row]!r}. Leave them out, or skip what is unknown."
            )
        gone = examples.take(np.flatnonzero(known)).distinct()
        start = perf_counter()
        if len(gone):
            found = encode(self.backbone, gone.items, store=None, on_error="refuse", progress=progress)
            self.learner.unlearn(found.x, gone.labels)
            self._known = self._known.minus(gone)
        left = self.classes_.tolist() if self.learner._learned else []
        lost = [label for label in classes if label not in set(left)]
        return Forgotten(len(gone), int((~known).sum()), lost, perf_counter() - start)

    def forget_class(self, label: object) -> None:
        """Take a class out exactly, without its examples.

        Raises
        ------
        InputError
            If the learner pools classes in its statistics, as AnaCP does: then `forget` the examples of the class.
        """
        self.classes_  # noqa: B018 (says so if nothing was learned)
        self.learner.unlearn_class(label)
        self._known = self._known.minus_class(label)

    # Predicting -------------------------------------------------------------------------------------------------

    def solve(self) -> Self:
        """Solve now, so that no prediction has to wait for it; `save` keeps the solution."""
        self.classes_  # noqa: B018 (says so if nothing was learned)
        self.learner.solve(probabilities=True)
        return self

    def features(self, inputs: Sequence[Any], *, progress: ProgressCallback | None = None) -> NDArray[np.float32]:
        """Return what the learner sees of the inputs, to use `learner` directly."""  # (n, d)
        return self.encode(inputs, progress=progress).x

    def encode(
        self, inputs: Sequence[Any], *, on_error: OnError = "refuse", progress: ProgressCallback | None = None
    ) -> Encoded:
        """Return the features of the inputs that can be read, which these are, and what is wrong with the others."""
        self.classes_  # noqa: B018 (says so if nothing was learned, before features are computed in vain)
        items = as_items(inputs)
        if not items:
            raise InputError("Expected inputs, got none. Give at least one.")
        return encode(self.backbone, items, store=self.store, on_error=on_error, progress=progress)

    def predict(self, inputs: Sequence[Any]) -> Labels:
        """Return the most likely label of each input."""  # (n,)
        return self.learner.predict(self.features(inputs))

    def predict_proba(self, inputs: Sequence[Any]) -> NDArray[Any]:
        """Return one probability for each input and class, in the order of `classes_`."""  # (n, c)
        return self.learner.predict_proba(self.features(inputs))

    def top(self, inputs: Sequence[Any], k: int = 3) -> list[list[tuple[Any, float]]]:
        """Return for each input the k most likely labels with their probabilities, the likeliest first."""
        if k < 1:
            raise ParameterError(f"Expected k of at least 1, got {k}.")
        return self.ranked(self.predict_proba(inputs), k)

    def ranked(self, probabilities: NDArray[Any], k: int) -> list[list[tuple[Any, float]]]:
        """Return the k most likely labels for rows of `predict_proba`."""
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
        names = self.classes_.tolist()
        return [
            [(names[column], float(row[column])) for column in columns]
            for row, columns in zip(probabilities, best, strict=True)
        ]
