"""The everyday way in: photos or sentences and their labels, no feature matrices."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from anacp.adaptation import Adaptation
from anacp.backbones import Backbone, EngineName
from anacp.encoders import ADAPTATION, Encoder, FeatureStore, LayersChoice
from anacp.errors import InputError, MismatchError, ModelFileError, NotLearnedError, ParameterError
from anacp.files import TensorFile, write_tensors
from anacp.items import OnError, as_items
from anacp.labels import label_array
from anacp.learners import KEEP, LEARNER, MODEL, By, Labels, Learner, check_kind, contents, label_kind, restored
from anacp.methods.answers import Answers, Forgotten, Learned, name_of
from anacp.methods.choosing_layers import chosen_layers, computing_all, selected
from anacp.methods.conflicts import Conflicts, OnConflict
from anacp.methods.finding import find_method, learner_class
from anacp.methods.header import CLASSIFIER
from anacp.methods.journal import Journal, Step
from anacp.methods.learned_examples import EXAMPLES, LearnedExamples
from anacp.methods.moves import Moves
from anacp.methods.pairs import labelled_pairs
from anacp.methods.taught import Taught
from anacp.progress import Report
from anacp.threads import OwnLock
from anacp.words import counted, format_bytes


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
        self.encoder = encoder if isinstance(encoder, Encoder) else Encoder(encoder, layers=layers)
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
        known = f"{counted(len(taught.classes), 'class')}, {counted(len(taught.examples), 'example')}"
        return f"<Classifier {name} + {learner}: {known}>"

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
        inputs: Any,
        labels: ArrayLike | None = None,
        *,
        columns: tuple[str, str] | None = None,
        on_error: OnError = "refuse",
        on_conflict: OnConflict = "keep",
        report: Report | None = None,
        source: object = None,
    ) -> Learned:
        """Learn more examples, of old classes, new classes, or both. If this fails, nothing has changed.

        Parameters
        ----------
        inputs : sequence
            Texts, for a text backbone; paths, Pillow images or images of `anacp.datasets` for an image backbone.
            Without `labels`: a DataFrame, a `Dataset` of Hugging Face, a `DataLoader`, or pairs (input, label).
        labels : array-like of shape (n,), optional
            One label an input: text, numbers or booleans.
        columns : (str, str), optional
            Which column of a table or a `Dataset` has the inputs, which the labels; found by their names if left out.
        on_error : {"refuse", "skip"}
            What to do with an image that cannot be read; those skipped are in the result.
        on_conflict : {"keep", "refuse", "skip"}
            What to do with content that is given, or was learned, as another class too: learn it as each, refuse
            everything, or leave it out. Those found are in the result.
        report : callable, optional
            Called with an `anacp.progress.Progress` now and then.
        source : optional
            Where the examples are from, for the journal.
        """
        if labels is None:
            inputs, labels = labelled_pairs(inputs, columns)
        items, names = self._checked(inputs, labels)
        label_of, given = names.tolist(), set()
        examples = self._taught.examples
        conflicts = Conflicts(items, label_of, examples)

        def is_new(position: int, digest: bytes) -> bool:
            example = label_of[position], digest
            again = example in given
            given.add(example)
            is_clear = conflicts.is_clear(position, digest) or on_conflict == "keep"
            is_wanted = is_clear and not (conflicts.found and on_conflict == "refuse")
            return is_wanted and not again and not examples.holds(*example)

        start = perf_counter()
        before = self.encoder
        encoder = computing_all(before) if before.undecided else before
        found = encoder.encode(items, store=self.store, on_error=on_error, wanted=is_new, report=report)
        if conflicts.found and on_conflict == "refuse":
            raise conflicts.error()
        left_out = conflicts.positions if on_conflict == "skip" else set()
        encoded = perf_counter()
        with self._turn:
            taught = self._taught
            # Another thread may have learned some of them since they were looked for.
            is_fresh = ~taught.examples.contains(names[found.kept], found.digests)
            rows = np.flatnonzero(is_fresh & ~np.isin(found.kept, list(left_out)))
            new, digests = names[found.kept[rows]], [found.digests[row] for row in rows]
            if len(new):
                x, encoder = found.x[rows], self.encoder
                if before.undecided:
                    # Another thread may have had them chosen since.
                    encoder = chosen_layers(before, x, new, digests) if encoder.undecided else encoder
                    x = selected(before, x, encoder.origin.layers)
                moves = Moves.of(x, digests, after=new)
                learned = taught.moved(moves)
                after = learned.after(taught, "learn", len(new), np.unique(new).tolist(), source=source, undo=moves)
                self.encoder, self._taught = encoder, after  # in this order: what was learned has an encoder
        return Learned(
            n_new=len(new),
            n_known=len(items) - len(new) - len(found.skipped) - len(left_out),
            new_classes=np.setdiff1d(new, taught.classes).tolist() if len(new) else [],
            skipped=found.skipped,
            conflicts=conflicts.found,
            cut=[items[position] for position in found.cut],
            feature_seconds=encoded - start,
            learn_seconds=perf_counter() - encoded,
            layer_choice=self._choice if before.undecided else None,
        )

    def forget(
        self,
        inputs: Sequence[Any],
        labels: ArrayLike,
        *,
        on_unknown: OnError = "refuse",
        on_error: OnError = "refuse",
        report: Report | None = None,
        source: object = None,
        for_good: bool = False,
    ) -> Forgotten:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. An example that was never learned is refused or, with
        `on_unknown="skip"`, left out and counted; so is an image that cannot be read, with `on_error="skip"`. If this
        fails, nothing has changed.

        The journal can take this back, and for that keeps features of what was forgotten. With `for_good` it does not,
        and gives up what takes earlier steps back as well, in which the same examples may be.
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
        found = self.encoder.encode(items, on_error=on_error, wanted=is_known, report=report)
        with self._turn:
            taught = self._taught
            # Another thread may have forgotten some of them since they were looked for.
            held = taught.examples.contains(names[found.kept], found.digests)
            unknown += found.kept[~held].tolist()
            if unknown and on_unknown == "refuse":
                row = unknown[0]
                raise InputError(
                    f"Expected examples learned before, got {len(unknown)} that were not, such as {items[row]} as "
                    f"{label_of[row]!r}. Leave them out, or have them passed over: --on-unknown skip (in Python "
                    "on_unknown='skip')."
                )
            rows = np.flatnonzero(held)
            gone = names[found.kept[rows]]
            if len(gone):
                moves = Moves.of(found.x[rows], [found.digests[row] for row in rows], before=gone)
                less, classes = taught.moved(moves), np.unique(gone).tolist()
                self._taught = less.after(taught, "forget", len(gone), classes, source=source, undo=moves)
            if for_good:
                self.give_up_undo()
            lost = np.setdiff1d(taught.classes, self._taught.classes).tolist() if len(gone) else []
        return Forgotten(len(gone), len(unknown), lost, perf_counter() - start, found.skipped)

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
            left = replace(taught, learner=learner, examples=taught.examples.without(label))
            n = len(taught.examples) - len(left.examples)
            self._taught = left.after(taught, "forget", n, [label])

    # Changing -----------------------------------------------------------------------------------------------------

    def relabel(self, inputs: Sequence[Any], label: Any, *, report: Report | None = None) -> int:
        """Move examples that were learned to another class, old or new, in one step; return how many moved.

        The classes that they are in are known by their content. If this fails, nothing has changed.
        """
        self._something()
        items, _ = self._checked(inputs, [label] * len(inputs))
        given: set[bytes] = set()

        def is_first(position: int, digest: bytes) -> bool:
            first = digest not in given
            given.add(digest)
            return first

        found = self.encoder.encode(items, store=self.store, wanted=is_first, report=report)
        with self._turn:
            self._taught, n_moved = self._something().relabelled(found, label)
        return n_moved

    def rename(self, old: object, new: object) -> None:
        """Give a class another name; its examples stay as they are."""
        with self._turn:
            self._taught = self._something().renamed(old, new)

    def join(self, classes: Sequence[object], into: object) -> None:
        """Make classes one, called `into`: one of them, another class that was learned, or a new name.

        An example that is in several of them would count twice, and is refused.
        """
        with self._turn:
            self._taught = self._something().joined(classes, into)

    @property
    def history(self) -> Journal:
        """The steps by which it became what it is, oldest first."""
        return self._taught.journal

    def give_up_undo(self) -> None:
        """Keep nothing by which a step could be taken back: features of examples among others. The list stays."""
        with self._turn:
            self._taught = replace(self._taught, journal=self._taught.journal.without_undo())

    def undo(self, steps: int = 1) -> list[Step]:
        """Take the last steps back, exactly, and return them, the latest first; all of them or none.

        Learning, forgetting and moving examples is taken back as `forget` does it; joining and merging by what was
        kept of the model before.
        """
        with self._turn:
            taught, undone = self._taught, []
            if not 1 <= steps <= len(taught.journal):
                raise InputError(f"Expected from 1 to {len(taught.journal)} steps to take back, got {steps}.")
            for _ in range(steps):
                undone.append(taught.journal.steps[-1])
                taught = taught.before()
            self._taught = taught
        return undone

    def __add__(self, other: Self) -> Classifier:
        """Return a new classifier: the one that learned the examples of both."""
        if not isinstance(other, Classifier):
            return NotImplemented
        self.encoder.origin.check(other.encoder.origin)
        one, two = self._taught, other._taught
        if type(one.learner) is not type(two.learner):
            mine, theirs = type(one.learner).__name__, type(two.learner).__name__
            raise MismatchError(
                f"Expected classifiers of one learner, got {mine} and {theirs}. Learn the examples of one anew, with "
                "the learner of the other."
            )
        clone(one.learner) + clone(two.learner)  # parameters that differ are said before examples that do not
        shared = one.examples.n_shared(two.examples)
        if shared:
            raise MismatchError(
                f"Expected classifiers that learned different examples, got {shared} in both, which would count "
                "twice. Forget them in one of the two first."
            )
        result = Classifier(self.encoder, clone(one.learner), store=self.store)
        both = Taught(one.learner + two.learner, one.examples + two.examples)
        result._taught = both.after(one, "merge", len(two.examples), two.classes.tolist())
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
        The result prints as a table: the likeliest labels of each input, with their probabilities.
        """
        items = self._some(inputs)
        found = self.encoder.encode(items, store=self.store, on_error=on_error, report=report)
        if not len(found.x):
            raise InputError(f"Expected inputs that can be read, got none of {len(items)}: {found.skipped[0][1]}")
        classes, probabilities, familiarity = self._something().learner.judged(found.x, keep=keep, by=by)
        cut = [items[position] for position in found.cut]
        shown = [name_of(items[position], position) for position in found.kept]
        parts = classes, probabilities, found.kept, found.skipped, found.digests
        return Answers(*parts, inputs=shown, cut=cut, familiarity=familiarity)

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
        journal = taught.journal
        stated = {"kind": "classifier", **header, **about, "saved": saved, "journal": journal.stated()}
        write_tensors(path, MODEL, stated, {**tensors, **parts, **examples, **journal.tensors()})

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
        examples = LearnedExamples.restored(learner.classes_.tolist(), file)
        classifier._taught = Taught(learner, examples, Journal.restored(file))
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

    @property
    def _choice(self) -> str | None:
        """Which layers were chosen and why, in words; None if they were stated, or are still to be chosen."""
        encoder = self.encoder
        return encoder.choice.words(encoder.origin.layers) if encoder.choice else None

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
    outlines = LearnedExamples.outlines(file, len(header["classes"])) | Journal.outlines(file)
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
