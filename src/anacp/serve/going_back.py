"""Undo and redo: the last change taken back exactly, and made again."""

from __future__ import annotations

from anacp.errors import NumericalError
from anacp.serve.changes import Change, State
from anacp.serve.records import What
from anacp.serve.refusals import RefusedError
from anacp.serve.replaying import replayed, with_event, without
from anacp.serve.turns import Turns


class GoingBack(Turns):
    """Changes that take others back, or make them again. Each is an event of its own, and so is each of several."""

    def undo(self, steps: int = 1, *, expected: int | None = None) -> Change:
        """Take the last changes back, exactly."""
        return self._back_and_forth("undo", steps, expected)

    def redo(self, steps: int = 1, *, expected: int | None = None) -> Change:
        """Make changes again that were taken back last."""
        return self._back_and_forth("redo", steps, expected)

    def _back_and_forth(self, what: What, steps: int, expected: int | None) -> Change:
        with self._turn:
            state = self._expected(expected)
            possible = state.can_undo if what == "undo" else len(state.stack.undone)
            if not 1 <= steps <= possible:
                raise RefusedError(
                    409,
                    f"nothing_to_{what}",
                    f"Expected from 1 to {possible} changes to {what}, got {steps}.",
                    "Look at /v1/history." if possible else "There is none.",
                )
            for _ in range(steps):
                done = self._one_back(self.state) if what == "undo" else self._one_forth(self.state)
        return done

    def _one_back(self, state: State) -> Change:
        last = self.journal.event(state.stack.done[-1])
        try:
            classifier = without(state.classifier, last, self.journal)
        except NumericalError:
            classifier = None
        if classifier is None:
            classifier = replayed(self._empty, self.journal, state.stack.done[:-1])
        event = self._event("undo", last.n, last.classes, of=last.version)
        moves = [move.back for move in self.journal.moves(last.version)]
        names = (last.detail["new"], last.detail["old"]) if last.what == "rename" else None
        self.journal.append(event, moves=moves, renamed=names)
        return self._become(event, classifier)

    def _one_forth(self, state: State) -> Change:
        again = self.journal.event(state.stack.undone[-1])
        try:
            classifier = with_event(state.classifier, again, self.journal)
        except NumericalError:
            classifier = replayed(self._empty, self.journal, (*state.stack.done, again.version))
        event = self._event("redo", again.n, again.classes, of=again.version)
        names = (again.detail["old"], again.detail["new"]) if again.what == "rename" else None
        self.journal.append(event, moves=self.journal.moves(again.version), renamed=names)
        return self._become(event, classifier)
