"""What a classifier is made of, and how it is saved, loaded and merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from anacp.adaptation import Adaptation, concatenated
from anacp.backbones import Backbone, preset
from anacp.backbones import backbone as load_backbone
from anacp.backbones.engines import EngineName
from anacp.errors import MismatchError, ModelFileError, NotLearnedError, ParameterError
from anacp.features import FeatureStore
from anacp.files import TensorFile, write_file
from anacp.learners import Learner, method
from anacp.learners.inputs import Labels
from anacp.learners.keeping import MODEL
from anacp.learners.loading import restored
from anacp.learners.summary import format_bytes
from anacp.methods.given import Given, given
from anacp.methods.known import Known
from anacp.methods.origin import Origin

__all__ = ["KeptClassifier"]

# The tensors of a model file that say which examples it learned, and to what its backbone was adapted.
EXAMPLES, ADAPTATION = "examples.", "adaptation."


@lru_cache(maxsize=4)
def _loaded(name: str, engine: EngineName, device: str) -> Backbone:
    """Return a backbone; it is frozen, so that the classifiers of a process share one."""
    return load_backbone(name, engine=engine, device=device)


class KeptClassifier:
    """A backbone, a learner, and which examples it has learned."""

    def __init__(
        self,
        backbone: str | Backbone = "efficientnet-lite0",
        learner: str | Learner = "AnaCP",
        *,
        engine: EngineName = "auto",
        device: str = "cpu",
        store: FeatureStore | None = None,
        adaptation: Adaptation | None = None,
        concatenate: bool = False,
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
        self._adaptation, self._concatenate = adaptation, concatenate
        self._backbone = self._adapted(backbone) if isinstance(backbone, Backbone) else backbone
        self._origin = Origin.of(self._backbone) if isinstance(self._backbone, Backbone) else None
        self._known = Known()

    def __repr__(self) -> str:
        name = self._origin.name if self._origin else self._backbone
        classes = len(self.classes_) if self.learner._learned else 0
        return f"<Classifier {name} + {type(self.learner).__name__}: {classes} classes, {len(self._known)} examples>"

    @property
    def backbone(self) -> Backbone:
        """What makes the features; loaded, and compared with the one that was learned with, on first use."""
        if isinstance(self._backbone, str):
            loaded = self._adapted(_loaded(self._backbone, self._engine, self._device))
            if self._origin is not None:
                self._origin.check(Origin.of(loaded))
            self._backbone, self._origin = loaded, Origin.of(loaded)
        return self._backbone

    def _adapted(self, base: Backbone) -> Backbone:
        if self._adaptation is None:
            return base
        adapted = self._adaptation.apply(base)
        return concatenated(base, adapted) if self._concatenate else adapted

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

    def __add__(self, other: Self) -> Self:
        """Return a new classifier: the one that learned the examples of both."""
        if not isinstance(other, KeptClassifier):
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
        result = type(self)(
            self._backbone, clone(self.learner), engine=self._engine, device=self._device, store=self.store
        )
        result._adaptation, result._concatenate, result._origin = self._adaptation, self._concatenate, self._origin
        result.learner = self.learner + other.learner
        result._known = self._known + other._known
        return result

    def __radd__(self, other: object) -> Self:
        """Let `sum(classifiers)` work."""
        return self if other == 0 else NotImplemented

    def save(self, path: str | Path) -> None:
        """Write everything to one safetensors file, all or nothing; `anacp.load` reads it back."""
        classes = self.classes_.tolist()
        header, tensors = self.learner._contents()
        header |= {"backbone": asdict(self.origin), "saved": datetime.now(UTC).isoformat(timespec="seconds")}
        tensors |= {f"{EXAMPLES}{name}": tensor for name, tensor in self._known.tensors(classes).items()}
        if self._adaptation is not None:
            header["adaptation"] = self._adaptation.header() | {"concatenate": self._concatenate}
            tensors |= {f"{ADAPTATION}{name}": tensor for name, tensor in self._adaptation.tensors.items()}
        write_file(path, MODEL, header, tensors)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        backbone: str | Backbone | None = None,
        engine: EngineName = "auto",
        device: str = "cpu",
        store: FeatureStore | None = None,
    ) -> Self:
        """Return the classifier saved at `path`, ready to predict and to go on learning.

        Its backbone is the one that the file names, loaded on first use and adapted as the file says, or the one given,
        adapted or not; any other than the one it was learned with is refused.
        """
        file = TensorFile(path, MODEL)
        if "backbone" not in file.header:
            raise ModelFileError(
                f"Expected a classifier, got a learner of features, which names no backbone: {path}. "
                "Read it with `anacp.load`."
            )
        origin = Origin(**file.header["backbone"])
        made = cls(backbone or origin.name, engine=engine, device=device, store=store)
        if "adaptation" in file.header:
            stated = file.header["adaptation"]
            made._adaptation = Adaptation.restored(stated, file.tensors(ADAPTATION))
            made._concatenate = stated["concatenate"]
        if isinstance(backbone, Backbone):
            if made._adaptation is not None and backbone.fingerprint == made._adaptation.base:
                made._backbone = made._adapted(backbone)
            origin.check(Origin.of(made.backbone))
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
