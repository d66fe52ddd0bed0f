"""What a classifier was taught, as one value: threads see all of it or nothing."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anacp.encoders import Encoded
from anacp.errors import InputError
from anacp.learners import Labels, Learner
from anacp.methods.journal import MOST_BYTES, Before, Journal, Renamed, Step, Undo, What
from anacp.methods.learned_examples import LearnedExamples
from anacp.methods.moves import Moves


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

    def before(self) -> Taught:
        """Return what was taught before the last step."""
        *_, last = self.journal
        return replace(last.undone(self), journal=self.journal.before_last())

    def _alike(self, labels: Labels) -> Labels:
        """Return labels in the precision of those learned: a file keeps plain numbers."""
        known = self.classes
        return labels if not len(known) or known.dtype.kind in "UO" else labels.astype(known.dtype)
