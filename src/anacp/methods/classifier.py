"""The everyday way in: photos or sentences and their labels, no feature matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from anacp.backbones import Backbone, preset
from anacp.backbones import backbone as load_backbone
from anacp.backbones.engines import EngineName
from anacp.backbones.inputs import OnError
from anacp.errors import InputError, MismatchError, ModelFileError, NotLearnedError, ParameterError
from anacp.features import FeatureStore
from anacp.files import TensorFile, write_file
from anacp.learners import Learner, method
from anacp.learners.inputs import Labels
from anacp.learners.keeping import MODEL
from anacp.learners.loading import restored
from anacp.learners.summary import format_bytes
from anacp.methods.encoding import ProgressCallback, encode
from anacp.methods.given import Given, as_items, given
from anacp.methods.known import Known
from anacp.methods.origin import Origin
from anacp.methods.records import Forgotten, Learned

__all__ = ["Classifier"]

EXAMPLES = "examples."  # the tensors of a model file that say which examples it learned


@lru_cache(maxsize=4)
def _loaded(name: str, engine: EngineName, device: str) -> Backbone:
    """Return a backbone; it is frozen, so that the classifiers of a process share one."""
    return load_backbone(name, engine=engine, device=device)


class Classifier:
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

    Attributes
    ----------
    learner : Learner
        What predicts from features.
    """

    def __init__(
        self,
        backbone: str | Backbone = "efficientnet-lite0",
        learner: str | Learner = "AnaCP",
        *,
        engine: EngineName = "auto",
        device: str = "cpu",
        store: FeatureStore | None = None,
    ) -> None:
        if isinstance(backbone, str) and not backbone.startswith("hf:"):
            preset(backbone)  # a misspelt name is answered now
        if isinstance(learner, Learner) and learner._learned:
            raise ParameterError(
                f"Expected a learner that has learned nothing yet, got {type(learner).__name__} with "
                f"{len(learner.classes_)} classes. Which examples it learned is not known: learn them here."
            )
        self.learner: Learner = clone(learner) if isinstance(learner, Learner) else method(learner)
        if isinstance(learner, str):
            self.learner.set_params(device=device)
        self.store = store
        self._engine: EngineName = engine
        self._device = device
        self._backbone = backbone
        self._origin = Origin.of(backbone) if isinstance(backbone, Backbone) else None
        self._known = Known()

    def __repr__(self) -> str:
        name = self._origin.name if self._origin else self._backbone
        classes = len(self.classes_) if self.learner._learned else 0
        return f"<Classifier {name} + {type(self.learner).__name__}: {classes} classes, {len(self._known)} examples>"

    @property
    def backbone(self) -> Backbone:
        """What makes the features; loaded, and compared with the one that was learned with, on first use."""
        if isinstance(self._backbone, str):
            loaded = _loaded(self._backbone, self._engine, self._device)
            if self._origin is not None:
                self._origin.check(Origin.of(loaded))
            self._backbone, self._origin = loaded, Origin.of(loaded)
        return self._backbone

    @property
    def origin(self) -> Origin:
        """Name, fingerprint, kind of input and width of the backbone."""
        if self._origin is None:
            self._origin = Origin.of(self.backbone)
        return self._origin

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""
        if not self.learner._learned:
            raise NotLearnedError("This Classifier has learned nothing yet. Call `learn` with examples first.")
        return self.learner.classes_

    @property
    def n_examples(self) -> int:
        """How many examples were learned."""
        return len(self._known)

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

    def __add__(self, other: Classifier) -> Classifier:
        """Return a new classifier: the one that learned the examples of both."""
        if not isinstance(other, Classifier):
            return NotImplemented
        self.origin.check(other.origin)
        shared = self._known.n_shared(other._known)
        if shared:
            raise MismatchError(
                f"Expected classifiers that learned different examples, got {shared} in both, which would count "
                "twice. Forget them in one of the two first."
            )
        if type(self.learner) is not type(other.learner):
            mine, theirs = type(self.learner).__name__, type(other.learner).__name__
            raise MismatchError(f"Expected classifiers of one learner, got {mine} and {theirs}.")
        result = Classifier(
            self._backbone, clone(self.learner), engine=self._engine, device=self._device, store=self.store
        )
        result._origin = self._origin
        result.learner = self.learner + other.learner
        result._known = self._known + other._known
        return result

    def __radd__(self, other: object) -> Classifier:
        """Let `sum(classifiers)` work."""
        return self if other == 0 else NotImplemented

    # Predicting -------------------------------------------------------------------------------------------------

    def features(self, inputs: Sequence[Any], *, progress: ProgressCallback | None = None) -> NDArray[np.float32]:
        """Return what the learner sees of the inputs, to use `learner` directly."""  # (n, d)
        self.classes_  # noqa: B018 (says so if nothing was learned, before features are computed in vain)
        items = as_items(inputs)
        if not items:
            raise InputError("Expected inputs, got none. Give at least one.")
        return encode(self.backbone, items, store=self.store, on_error="refuse", progress=progress).x

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

    # Keeping ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything to one safetensors file, all or nothing; `anacp.load` reads it back."""
        classes = self.classes_.tolist()
        header, tensors = self.learner._contents()
        header |= {"backbone": asdict(self.origin), "saved": datetime.now(UTC).isoformat(timespec="seconds")}
        known = {f"{EXAMPLES}{name}": tensor for name, tensor in self._known.tensors(classes).items()}
        write_file(path, MODEL, header, tensors | known)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        backbone: str | Backbone | None = None,
        engine: EngineName = "auto",
        device: str = "cpu",
        store: FeatureStore | None = None,
    ) -> Classifier:
        """Return the classifier saved at `path`, ready to predict and to go on learning.

        Its backbone is the one that the file names, loaded on first use, or the one given; any other than the one it
        was learned with is refused.
        """
        file = TensorFile(path, MODEL)
        if "backbone" not in file.header:
            raise ModelFileError(
                f"Expected a classifier, got a learner of features, which names no backbone: {path}. "
                "Read it with `anacp.load`."
            )
        origin = Origin(**file.header["backbone"])
        made = cls(backbone or origin.name, engine=engine, device=device, store=store)
        if isinstance(backbone, Backbone):
            origin.check(Origin.of(backbone))
        made._origin = origin
        if isinstance(backbone, str):
            made.backbone  # noqa: B018 (loaded now, to be refused now)
        made.learner = restored(file, device)
        made._known = Known.restored(made.classes_.tolist(), file.tensors(EXAMPLES))
        return made

    def summary(self) -> None:
        """Print the backbone, and what is stored, numbers and bytes by part."""
        print(f"{self.origin}: {self.origin.modality}s to {self.origin.n_features} features")
        self.learner.summary()
        print(f"{self.n_examples:,} examples known by {format_bytes(8 * self.n_examples)} of digests")

    def is_known(self, inputs: Sequence[Any], labels: ArrayLike) -> NDArray[np.bool_]:
        """Return for each example whether it was learned, with this label."""  # (n,)
        return self._known.contains(self._given(inputs, labels))

    def _given(self, inputs: Sequence[Any], labels: ArrayLike) -> Given:
        examples = given(inputs, labels, self.origin.modality)
        if self.learner._learned and len(examples):
            self.learner._check_kind(examples.labels)
        return examples
