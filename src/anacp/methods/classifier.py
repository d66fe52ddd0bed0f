"""The everyday way in: photos or sentences and their labels, no feature matrices."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from anacp.backbones import Backbone, EngineName
from anacp.encoders import Encoder, FeatureStore, LayersChoice
from anacp.errors import InputError, ParameterError
from anacp.files import TensorFile
from anacp.items import as_items
from anacp.learners import KEEP, By, Labels, Learner
from anacp.methods.answers import Answers
from anacp.methods.asking import Asked, Question
from anacp.methods.classifier_file import read_classifier, write_classifier
from anacp.methods.finding import untaught
from anacp.methods.learned_examples import Digests, LearnedExamples
from anacp.methods.lessons import checked_examples
from anacp.methods.moves import Moves
from anacp.methods.taught import Taught
from anacp.methods.teaching import Teaching
from anacp.progress import Report
from anacp.threads import OwnLock
from anacp.words import counted, format_bytes


class Classifier(Teaching, Asked):
    """An encoder and a learner as one: images or texts in, labels out, new classes at any time.

    Every example counts once: what was learned before is recognised by its content (or label and content) and left
    out, so that learning a folder again adds only what is new.

    Any number of threads may use one classifier: what reads sees one moment, what changes it comes one at a time and
    takes effect whole. `learner` is therefore another object after every change.

    Parameters
    ----------
    encoder : str, Backbone or Encoder, default="efficientnet-lite0"
        What makes features: a backbone by name ("efficientnet-lite0" for images, "minilm-l6" for texts, any other of
        `anacp.backbones.PRESETS`, or "hf:NAME_OR_FOLDER"), a backbone, or an encoder. By name, it is loaded when it is
        needed.
    learner : str or Learner, default="AnaCP"
        The name of a method, or a learner that has learned nothing yet, whose parameters are taken.
    layers : {"auto", "last"} or sequence of int or str, optional
        Which layers of a backbone give features, see `Encoder`; an encoder states its own. With "auto" they are chosen
        by the first examples that are learned, for good.
    store : FeatureStore, optional
        Where features are kept, so that work that was stopped goes on where it was. Without one nothing but the model
        file is ever written.

    Attributes
    ----------
    encoder : Encoder
        What makes features.
    """

    def __init__(
        self,
        encoder: str | Backbone | Encoder = "efficientnet-lite0",
        learner: str | Learner[Any] = "AnaCP",
        *,
        layers: LayersChoice | None = None,
        store: FeatureStore | None = None,
    ) -> None:
        if isinstance(encoder, Encoder) and layers is not None:
            raise ParameterError("Expected layers of a backbone, got those of an encoder, which states its own.")
        made = encoder if isinstance(encoder, Encoder) else Encoder(encoder, layers=layers)
        super().__init__(made, Taught(untaught(learner), LearnedExamples()), store)

    @classmethod
    def of_learned(
        cls, encoder: Encoder, learner: Learner[Any], labels: Labels, digests: Sequence[bytes]
    ) -> Classifier:
        """Return the classifier around a learner that has learned these examples, by features of this encoder."""
        classifier = cls(encoder, clone(learner))
        classifier._taught = Taught(learner, LearnedExamples.of(labels, digests))
        return classifier

    def __repr__(self) -> str:
        taught = self._taught
        name, learner = self.encoder.name, type(taught.learner).__name__
        known = f"{counted(len(taught.classes), 'class')}, {counted(len(taught.examples), 'example')}"
        return f"<Classifier {name} + {learner}: {known}>"

    @property
    def modality(self) -> str:
        """What goes in: "image" or "text"."""
        return self.encoder.modality

    def moved(self, moves: Moves, *, source: object = None) -> Classifier:
        """Return the classifier after examples came, went, or changed their class, by features that are at hand.

        This one stays as it is. The features must be those of its encoder, which is not asked again.
        """
        changed, taught = copy.copy(self), self._taught
        touched = moves.labels.tolist()
        after = taught.moved(moves).after(taught, moves.what, len(moves), touched, source=source, undo=moves)
        changed._taught, changed._turn = after, OwnLock()
        return changed

    def grown(self, learner: Learner[Any], labels: Labels, digests: Digests, *, source: object = None) -> Classifier:
        """Return the classifier after examples that were summed elsewhere, by features of its encoder.

        Parameters
        ----------
        learner : Learner
            What has learned them, and nothing else, with the parameters of this one's.
        labels, digests : arrays of shape (n,)
            Their labels, and of each the first eight bytes of its content's digest. None was learned here before.
        source : optional
            Where they are from, for the journal.
        """
        changed = copy.copy(self)
        examples = LearnedExamples.of_short(labels, digests)
        changed._taught, changed._turn = self._taught.grown(learner, examples, source=source), OwnLock()
        return changed

    @property
    def examples(self) -> LearnedExamples:
        """Which examples were learned, as they are kept: by label and digest."""
        return self._taught.examples

    def __add__(self, other: Self) -> Classifier:
        """Return a new classifier: the one that learned the examples of both."""
        if not isinstance(other, Classifier):
            return NotImplemented
        self.encoder.origin.check(other.encoder.origin)
        one = self._taught
        result = Classifier(self.encoder, clone(one.learner), store=self.store)
        result._taught = one.merged(other._taught)
        return result

    def __radd__(self, other: object) -> Self:
        """Let `sum(classifiers)` work."""
        return self if other == 0 else NotImplemented

    # Predicting -------------------------------------------------------------------------------------------------

    def solve(self) -> Self:
        """Solve now, so that no prediction has to wait for it; `save` keeps the solution."""
        self._something().learner.solve(probabilities=True, unknown=True)
        return self

    def features(self, inputs: Sequence[Any], *, report: Report | None = None) -> NDArray[np.float32]:
        """Return what the learner sees of the inputs, to use `learner` directly."""  # (n, d)
        return self.encoder.encode(self._some(inputs), store=self.store, report=report).x

    def _answered(self, inputs: Sequence[Any], question: Question) -> Answers:
        items = self._some(inputs)
        found = self.encoder.encode(items, store=self.store, on_error=question.on_error, report=question.report)
        Answers.check(items, found)
        judged = self._something().learner.judged(found.x, keep=question.keep, by=question.by)
        return Answers.of(items, found, *judged)

    def predict(self, inputs: Sequence[Any], *, unknown: Any = None, keep: float = KEEP, by: By = "both") -> Labels:
        """Return the most likely label of each input, or `unknown`, if given, as by `Learner.predict`."""  # (n,)
        x = self.features(inputs)
        return self._something().learner.predict(x, unknown=unknown, keep=keep, by=by)

    def is_known(self, inputs: Sequence[Any], labels: ArrayLike) -> NDArray[np.bool_]:
        """Return for each example whether it was learned, with this label."""  # (n,)
        items, names = checked_examples(inputs, labels, self._taught)
        return self.learned(self.encoder.digests(items), names)

    def learned(self, digests: Sequence[bytes], labels: Labels) -> NDArray[np.bool_]:
        """Return for each example, by the digest of its content, whether it was learned with this label."""  # (n,)
        return self._taught.examples.contains(labels, digests)

    def known_as(self, digest: bytes) -> list[Any]:
        """Return the classes in which a content was learned, by its digest."""
        examples = self._taught.examples
        return [] if examples.label_of(digest) is None else examples.labels_of(digest)

    def n_examples_of(self, label: object) -> int:
        """Return how many examples of a class were learned."""
        return self._taught.examples.count(label)

    # Files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, exact: bool = False) -> None:
        """Write everything to one safetensors file, all or nothing; `anacp.load` reads it back.

        A solution is always kept, so that predictions start at once; `exact` is as for `Learner.save`.
        """
        write_classifier(path, self.encoder, self._something(), exact=exact)

    @classmethod
    def load(
        cls,
        path: str | Path | TensorFile,
        *,
        backbone: str | Backbone | None = None,
        engine: EngineName = "auto",
        device: str = "cpu",
        store: FeatureStore | None = None,
        remote_code: bool = False,
    ) -> Self:
        """Return the classifier saved at `path`, ready to predict and to go on learning.

        Its backbone is the one given, adapted or not, or the one that the file names, adapted as the file says: a
        preset, or what was named on this machine before, loaded on first use. Any other than the one it was learned
        with is refused. `remote_code` is for a backbone given by name, see `anacp.backbones.backbone`.
        """
        options: dict[str, Any] = {"engine": engine, "device": device, "remote_code": remote_code}
        encoder, taught = read_classifier(path, backbone=backbone, **options)
        classifier = cls(encoder, clone(taught.learner), store=store)
        classifier._taught = taught
        return classifier

    def summary(self) -> None:
        """Print the backbone, and what is stored, numbers and bytes by part."""
        origin, taught = self.encoder.origin, self._taught
        print(f"{origin}: {origin.modality}s to {origin.n_features} features")
        if self._choice:
            print(self._choice)
        taught.learner.summary()
        n = len(taught.examples)
        print(f"{counted(n, 'example')} known by {format_bytes(8 * n)} of digests")

    def _some(self, inputs: Sequence[Any]) -> list[Any]:
        self._something()  # says so if nothing was learned, before features are computed in vain
        items = as_items(inputs)
        if not items:
            raise InputError("Expected inputs, got none. Give at least one.")
        return items
