"""The everyday way in: photos or sentences and their labels, no feature matrices."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from anacp.adaptation import Adaptation
from anacp.backbones import Backbone, EngineName
from anacp.encoders import ADAPTATION, Encoder, FeatureStore
from anacp.errors import InputError, MismatchError, ModelFileError, NotLearnedError, ParameterError
from anacp.files import TensorFile, write_tensors
from anacp.items import OnError, as_items
from anacp.labels import label_array
from anacp.learners import KEEP, LEARNER, MODEL, By, Labels, Learner, check_kind, contents, label_kind, restored
from anacp.methods.answers import Answers, Forgotten, Learned
from anacp.methods.finding import find_method, learner_class
from anacp.methods.header import CLASSIFIER
from anacp.methods.learned_examples import EXAMPLES, LearnedExamples
from anacp.methods.taught import Taught
from anacp.progress import Report
from anacp.threads import OwnLock
from anacp.words import format_bytes


class Classifier:
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
        store: FeatureStore | None = None,
    ) -> None:
        self.encoder = encoder if isinstance(encoder, Encoder) else Encoder(encoder)
        self.store = store
        self._taught = Taught(_untaught(learner), LearnedExamples())
        self._turn = OwnLock()  # held by the thread that changes what was taught

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
        return f"<Classifier {name} + {learner}: {len(taught.classes)} classes, {len(taught.examples)} examples>"

    @property
    def learner(self) -> Learner[Any]:
        """What predicts from features, as it is now."""
        return self._taught.learner

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""
        return self._something().learner.classes_

    @property
    def n_examples(self) -> int:
        """How many examples were learned."""
        return len(self._taught.examples)

    @property
    def modality(self) -> str:
        """What goes in: "image" or "text"."""
        return self.encoder.modality

    # Learning ---------------------------------------------------------------------------------------------------

    def learn(
        self,
        inputs: Sequence[Any],
        labels: ArrayLike,
        *,
        on_error: OnError = "refuse",
        report: Report | None = None,
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
        report : callable, optional
            Called with an `anacp.progress.Progress` now and then.
        """
        items, names = self._checked(inputs, labels)
        label_of, given = names.tolist(), set()
        examples = self._taught.examples

        def is_new(position: int, digest: bytes) -> bool:
            example = label_of[position], digest
            again = example in given
            given.add(example)
            return not again and not examples.holds(*example)

        start = perf_counter()
        found = self.encoder.encode(items, store=self.store, on_error=on_error, wanted=is_new, report=report)
        encoded = perf_counter()
        with self._turn:
            taught = self._taught
            # Another thread may have learned some of them since they were looked for.
            rows = np.flatnonzero(~taught.examples.contains(names[found.kept], found.digests))
            new = names[found.kept[rows]]
            if len(new):
                self._taught = taught.with_examples(found.x[rows], new, [found.digests[row] for row in rows])
        return Learned(
            n_new=len(new),
            n_known=len(items) - len(new) - len(found.skipped),
            new_classes=np.setdiff1d(new, taught.classes).tolist() if len(new) else [],
            skipped=found.skipped,
            feature_seconds=encoded - start,
            learn_seconds=perf_counter() - encoded,
        )

    def forget(
        self,
        inputs: Sequence[Any],
        labels: ArrayLike,
        *,
        on_unknown: OnError = "refuse",
        report: Report | None = None,
    ) -> Forgotten:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. An example that was never learned is refused or, with
        `on_unknown="skip"`, left out and counted. If this fails, nothing has changed.
        """
        examples = self._something().examples
        items, names = self._checked(inputs, labels)
        label_of, given = names.tolist(), set()
        unknown: list[int] = []

        def is_known(position: int, digest: bytes) -> bool:
            example = label_of[position], digest
            again, known = example in given, examples.holds(*example)
            given.add(example)
            unknown.extend([] if known else [position])
            return known and not again

        start = perf_counter()
        found = self.encoder.encode(items, wanted=is_known, report=report)
        with self._turn:
            taught = self._taught
            # Another thread may have forgotten some of them since they were looked for.
            held = taught.examples.contains(names[found.kept], found.digests)
            unknown += found.kept[~held].tolist()
            if unknown and on_unknown == "refuse":
                row = unknown[0]
                raise InputError(
                    f"Expected examples learned before, got {len(unknown)} that were not, such as {items[row]} as "
                    f"{label_of[row]!r}. Leave them out, or skip what is unknown."
                )
            rows = np.flatnonzero(held)
            gone = names[found.kept[rows]]
            if len(gone):
                self._taught = taught.without_examples(found.x[rows], gone, [found.digests[row] for row in rows])
            lost = np.setdiff1d(taught.classes, self._taught.classes).tolist() if len(gone) else []
        return Forgotten(len(gone), len(unknown), lost, perf_counter() - start)

    def forget_class(self, label: object) -> None:
        """Take a class out exactly, without its examples.

        Raises
        ------
        InputError
            If the learner pools classes in its statistics, as AnaCP does: then `forget` the examples of the class.
        """
        with self._turn:
            taught = self._something()
            learner = copy.copy(taught.learner).unlearn_class(label)
            self._taught = Taught(learner, taught.examples.without(label))

    def __add__(self, other: Self) -> Classifier:
        """Return a new classifier: the one that learned the examples of both."""
        if not isinstance(other, Classifier):
            return NotImplemented
        self.encoder.origin.check(other.encoder.origin)
        one, two = self._taught, other._taught
        if type(one.learner) is not type(two.learner):
            mine, theirs = type(one.learner).__name__, type(two.learner).__name__
            raise MismatchError(f"Expected classifiers of one learner, got {mine} and {theirs}.")
        shared = one.examples.n_shared(two.examples)
        if shared:
            raise MismatchError(
                f"Expected classifiers that learned different examples, got {shared} in both, which would count "
                "twice. Forget them in one of the two first."
            )
        result = Classifier(self.encoder, clone(one.learner), store=self.store)
        result._taught = Taught(one.learner + two.learner, one.examples + two.examples)
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
        items = self._some(inputs)
        found = self.encoder.encode(items, store=self.store, on_error=on_error, report=report)
        if not len(found.x):
            raise InputError(f"Expected inputs that can be read, got none of {len(items)}: {found.skipped[0][1]}")
        classes, probabilities, familiarity = self._something().learner.judged(found.x, keep=keep, by=by)
        return Answers(classes, probabilities, found.kept, found.skipped, found.digests, familiarity)

    def predict(self, inputs: Sequence[Any], *, unknown: Any = None, keep: float = KEEP, by: By = "both") -> Labels:
        """Return the most likely label of each input, or `unknown`, if given, as by `Learner.predict`."""  # (n,)
        x = self.features(inputs)
        return self._something().learner.predict(x, unknown=unknown, keep=keep, by=by)

    def predict_proba(self, inputs: Sequence[Any]) -> NDArray[Any]:
        """Return one probability for each input and class, in the order of `classes_`."""  # (n, c)
        return self.answer(inputs).probabilities

    def top(self, inputs: Sequence[Any], k: int = 3) -> list[list[tuple[Any, float]]]:
        """Return for each input the k most likely labels with their probabilities, the likeliest first."""
        return self.answer(inputs).ranked(k)

    def is_known(self, inputs: Sequence[Any], labels: ArrayLike) -> NDArray[np.bool_]:
        """Return for each example whether it was learned, with this label."""  # (n,)
        items, names = self._checked(inputs, labels)
        return self.learned(self.encoder.digests(items), names)

    def learned(self, digests: Sequence[bytes], labels: Labels) -> NDArray[np.bool_]:
        """Return for each example, by the digest of its content, whether it was learned with this label."""  # (n,)
        return self._taught.examples.contains(labels, digests)

    # Files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, exact: bool = False) -> None:
        """Write everything to one safetensors file, all or nothing; `anacp.load` reads it back.

        A solution is always kept, so that predictions start at once; `exact` is as for `Learner.save`.
        """
        taught = self._something()
        header, tensors = contents(taught.learner, exact=exact, solution=True)
        about, parts = self.encoder.contents()
        saved = datetime.now(UTC).isoformat(timespec="seconds")
        examples = {f"{EXAMPLES}{name}": one for name, one in taught.examples.tensors(taught.classes.tolist()).items()}
        stated = {"kind": "classifier", **header, **about, "saved": saved}
        write_tensors(path, MODEL, stated, {**tensors, **parts, **examples})

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
    ) -> Classifier:
        """Return the classifier saved at `path`, ready to predict and to go on learning.

        Its backbone is the one given, adapted or not, or the one that the file names, adapted as the file says: a
        preset, or what was named on this machine before, loaded on first use. Any other than the one it was learned
        with is refused. `remote_code` is for a backbone given by name, see `anacp.backbones.backbone`.
        """
        file = path if isinstance(path, TensorFile) else TensorFile(path, MODEL)
        if "backbone" not in file.header:
            raise ModelFileError(
                f"Expected a classifier, got a model of another kind: {file.path}. `anacp info` says what it is; "
                "`anacp.load` reads it in Python."
            )
        learner, adaptation = _checked_learner(file, device), file.tensors(ADAPTATION)
        parts = {f"{ADAPTATION}{name}": one for name, one in adaptation.items()}
        options: dict[str, Any] = {"engine": engine, "device": device, "remote_code": remote_code}
        encoder = Encoder.restored(file.header, parts, backbone=backbone, **options)
        classifier = cls(encoder, clone(learner), store=store)
        classifier._taught = Taught(learner, LearnedExamples.restored(learner.classes_.tolist(), file))
        return classifier

    def summary(self) -> None:
        """Print the backbone, and what is stored, numbers and bytes by part."""
        origin, taught = self.encoder.origin, self._taught
        print(f"{origin}: {origin.modality}s to {origin.n_features} features")
        taught.learner.summary()
        n = len(taught.examples)
        print(f"{n:,} examples known by {format_bytes(8 * n)} of digests")

    def _something(self) -> Taught:
        """Return what was taught, or say that nothing was."""
        taught = self._taught
        if not taught.learner._learned:
            raise NotLearnedError("This Classifier has learned nothing yet. Call `learn` with examples first.")
        return taught

    def _some(self, inputs: Sequence[Any]) -> list[Any]:
        self._something()  # says so if nothing was learned, before features are computed in vain
        items = as_items(inputs)
        if not items:
            raise InputError("Expected inputs, got none. Give at least one.")
        return items

    def _checked(self, inputs: Sequence[Any], labels: ArrayLike) -> tuple[list[Any], Labels]:
        """Return items and labels, or say what is wrong with them."""
        items, names = as_items(inputs), label_array(labels)
        if names.shape != (len(items),):
            raise InputError(
                f"Expected one label for each of the {len(items)} inputs, got labels of shape {names.shape}."
            )
        if isinstance(labels, list | tuple) and len({label_kind(np.asarray(label)) for label in labels}) > 1:
            raise InputError("Expected labels of one kind, got a mixture. Convert them to one kind first.")
        taught = self._taught
        if taught.learner._learned and len(items):
            check_kind(taught.classes, names)
        return items, names


def _checked_learner(file: TensorFile, device: str) -> Learner[Any]:
    """Return the learner of a classifier's file, if the whole file is what a classifier writes."""
    file.check_header(LEARNER | CLASSIFIER)
    header = file.header
    outlines = LearnedExamples.outlines(file, len(header["classes"]))
    if "adaptation" in header:
        Adaptation.check_tensors(file, header["adaptation"], ADAPTATION)
        outlines |= {f"{ADAPTATION}{name}": one for name, one in file.outlines(ADAPTATION).items()}
    if header["backbone"]["n_features"] != header["n_features"]:
        raise file.damage("backbone.n_features is not n_features")
    return restored(learner_class(file), file, device=device, facts=CLASSIFIER, outlines=outlines)


def _untaught(learner: str | Learner[Any]) -> Learner[Any]:
    if isinstance(learner, str):
        entry = find_method(learner)
        if entry.takes != "features":
            raise ParameterError(
                f"Expected a method that learns from features, got {entry.name}, which trains a network of its own. "
                f"Use `anacp.methods.{entry.make.__name__}` itself."
            )
        made: Learner[Any] = entry.new()
        return made
    if learner._learned:
        raise ParameterError(
            f"Expected a learner that has learned nothing yet, got {type(learner).__name__} with "
            f"{len(learner.classes_)} classes. Which examples it learned is not known: learn them here."
        )
    copied: Learner[Any] = clone(learner)
    return copied
