"""What a model was taught, and the steps that change it without an example: one at a time, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anacp.errors import NotLearnedError
from anacp.learners import Labels, Learner
from anacp.methods.journal import Journal, Step
from anacp.methods.taught import Taught
from anacp.threads import OwnLock


class Changing:
    """Holds what was taught: whoever reads sees one moment, whoever changes it waits for its turn."""

    def __init__(self, taught: Taught) -> None:
        self._taught = taught
        self._turn = OwnLock()  # held by the thread that changes what was taught

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

    def forget_class(self, label: object) -> None:
        """Take a class out exactly, without its examples.

        Raises
        ------
        InputError
            If the learner pools classes in its statistics, as AnaCP does: then `forget` the examples of the class.
        """
        with self._turn:
            self._taught = self._something().without_class(label)

    @property
    def history(self) -> Journal:
        """The steps by which it became what it is, oldest first."""
        return self._taught.journal

    def undo(self, steps: int = 1) -> list[Step]:
        """Take the last steps back, exactly, and return them, the latest first; all of them or none.

        Learning, forgetting and moving examples is taken back as `forget` does it; joining and merging by what was
        kept of the model before.
        """
        with self._turn:
            before = self._taught
            self._taught = before.undone(steps)
            return list(reversed(before.journal.steps[-steps:]))

    def redo(self, steps: int = 1) -> list[Step]:
        """Take the last steps that were undone again, exactly, and return them, in order; all of them or none.

        That is possible until the next change.
        """
        with self._turn:
            self._taught = self._taught.redone(steps)
            return list(self._taught.journal.steps[-steps:])

    def give_up_undo(self) -> None:
        """Keep nothing by which a step could be taken back: features of examples among others. The list stays."""
        with self._turn:
            self._taught = replace(self._taught, journal=self._taught.journal.without_undo())

    def _something(self) -> Taught:
        """Return what was taught, or say that nothing was."""
        taught = self._taught
        if not taught.learner._learned:
            raise NotLearnedError("This Classifier has learned nothing yet. Call `learn` with examples first.")
        return taught
