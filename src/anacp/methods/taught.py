"""What a classifier was taught, as one value: threads see all of it or nothing."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from anacp.encoders import Encoded
from anacp.errors import InputError, MismatchError
from anacp.learners import Labels, Learner
from anacp.methods.journal import MOST_BYTES, Journal, Step, What
from anacp.methods.learned_examples import LearnedExamples
from anacp.methods.moves import Moves
from anacp.methods.taking_back import Before, Renamed, Undo


@dataclass(frozen=True, eq=False)
class Taught:
    """A learner, which nobody changes any more, the examples that it learned, and the steps that led there."""

    learner: Learner[Any]
    examples: LearnedExamples
    journal: Journal = field(default_factory=Journal)

    @property
    def classes(self) -> Labels:
        """The classes learned so far, sorted; none at first."""
        return self.learner.classes_ if self.learner._learned else np.empty(0, np.str_)

    @property
    def nbytes(self) -> int:
        """What an exact file keeps of the statistics and examples."""
        parts = self.learner.parts() if self.learner._learned else []
        return sum(part.bytes for part in parts) + 8 * len(self.examples)

    def moved(self, moves: Moves) -> Taught:
        """Return what is known once examples came, went, or changed their class."""
        learner, examples = copy.copy(self.learner), self.examples
        x, labels, held = moves.added
        if len(x):
            learner, examples = learner.partial_fit(x, self._alike(labels)), examples + held
        x, labels, held = moves.gone
        if len(x):
            learner, examples = learner.unlearn(x, self._alike(labels)), examples - held
        return replace(self, learner=learner, examples=examples)

    def relabelled(self, found: Encoded, label: Any) -> tuple[Taught, int]:
        """Return what is known once these examples are all in one class, and how many were in others."""
        rows, before, after = [], [], []
        for row, digest in enumerate(found.digests):
            held = self.examples.labels_of(digest)
            if not held:
                raise InputError(
                    f"Expected examples learned before, got one that was not: number {found.kept[row] + 1} of those "
                    "given. Learn it, or leave it out."
                )
            others = [one for one in held if one != label]
            rows += [row] * len(others)
            before += others
            after += [label if label not in held and other == others[0] else None for other in others]
        if not rows:
            return self, 0
        moves = Moves.of(found.x[rows], [found.digests[row] for row in rows], before=before, after=after)
        touched = list(dict.fromkeys([label, *before]))
        return self.moved(moves).after(self, "relabel", len(rows), touched, undo=moves), len(rows)

    def renamed(self, old: Any, new: Any) -> Taught:
        """Return what is known with a class under another name."""
        learner = copy.copy(self.learner).rename(old, new)
        named = replace(self, learner=learner, examples=self.examples.relabelled({old: new}))
        return named.after(self, "rename", self.examples.count(old), [old, new], undo=Renamed(old, new))

    def joined(self, classes: Sequence[Any], into: Any) -> Taught:
        """Return what is known with classes as one; an example that is in several would count twice, and is refused."""
        learner = copy.copy(self.learner).join(classes, into)
        joined = replace(self, learner=learner, examples=self.examples.relabelled(dict.fromkeys(classes, into)))
        twice = len(self.examples) - len(joined.examples)
        if twice:
            raise InputError(
                f"Expected classes without an example in common, got {twice} in several of them. Forget these in all "
                "classes but one first."
            )
        touched = list(dict.fromkeys([into, *classes]))
        return joined.after(self, "join", sum(map(self.examples.count, touched)), touched)

    def merged(self, other: Taught) -> Taught:
        """Return what is known once this learned the examples of another, too."""
        if type(self.learner) is not type(other.learner):
            mine, theirs = type(self.learner).__name__, type(other.learner).__name__
            raise MismatchError(
                f"Expected classifiers of one learner, got {mine} and {theirs}. Learn the examples of one anew, with "
                "the learner of the other."
            )
        clone(self.learner) + clone(other.learner)  # parameters that differ are said before examples that do not
        shared = self.examples.n_shared(other.examples)
        if shared:
            raise MismatchError(
                f"Expected classifiers that learned different examples, got {shared} in both, which would count "
                "twice. Forget them in one of the two first."
            )
        both = Taught(self.learner + other.learner, self.examples + other.examples)
        return both.after(self, "merge", len(other.examples), other.classes.tolist())

    def grown(self, learner: Learner[Any], examples: LearnedExamples, *, source: object) -> Taught:
        """Return what is known once this learned examples that another learner has summed, none of which it had."""
        both = Taught(copy.copy(self.learner) + learner, self.examples + examples)
        touched = learner.classes_.tolist()
        return both.after(self, "learn", len(examples), touched, source=source)

    def without_class(self, label: Any) -> Taught:
        """Return what is known without a class, whose examples are not at hand."""
        learner = copy.copy(self.learner).unlearn_class(label)
        left = replace(self, learner=learner, examples=self.examples.without(label))
        return left.after(self, "forget", len(self.examples) - len(left.examples), [label])

    def after(
        self,
        before: Taught,
        what: What,
        n: int,
        classes: Sequence[Any],
        *,
        source: object = None,
        undo: Undo | None = None,
    ) -> Taught:
        """Return this with a step in its journal that led here from what was taught before.

        Without what takes the step back, or with more of it than fits, all statistics are kept as they were, if these
        are less.
        """
        model_bytes = 0
        if undo is None or undo.nbytes > MOST_BYTES:
            model_bytes = max(self.nbytes, before.nbytes)
            undo = Before(before) if before.learner._learned else undo
        step = Step.now(what, n, classes, source, undo)
        return replace(self, journal=before.journal.plus(step, model_bytes=model_bytes))

    def undone(self, steps: int) -> Taught:
        """Return what was taught before the last steps."""
        if not 1 <= steps <= len(self.journal):
            raise InputError(f"Expected from 1 to {len(self.journal)} steps to take back, got {steps}.")
        taught = self
        for step in reversed(self.journal.steps[-steps:]):
            taught = replace(step.undone(taught), journal=taught.journal.back(step.reversed(taught)))
        return taught

    def redone(self, steps: int) -> Taught:
        """Return what was taught before the last undoing of so many steps."""
        undone = self.journal.undone
        if not undone:
            raise InputError(
                "Expected steps that were undone, got none: `redo` takes back an `undo` until the next change."
            )
        if not 1 <= steps <= len(undone):
            raise InputError(f"Expected from 1 to {len(undone)} undone steps to take again, got {steps}.")
        taught = self
        for step in reversed(undone[-steps:]):
            taught = replace(step.undone(taught), journal=taught.journal.again(step.reversed(taught)))
        return taught

    def _alike(self, labels: Labels) -> Labels:
        """Return labels in the precision of those learned: a file keeps plain numbers."""
        known = self.classes
        return labels if not len(known) or known.dtype.kind in "UO" else labels.astype(known.dtype)
