"""Changes one at a time: each from the moment before, in the journal first, then for everybody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime

from anacp.errors import InputError
from anacp.methods import Classifier
from anacp.serve.changes import Change, State
from anacp.serve.journal import Journal
from anacp.serve.records import Event, What
from anacp.serve.refusals import RefusedError, missing


class Turns:
    """Whose turn it is to change a model, and from which moment.

    Parameters
    ----------
    journal : Journal
        Where events are kept.
    empty : Classifier
        One that has learned nothing, with encoder and learner as they are here.
    state : State
        What the journal's events amount to.
    announce : callable
        Called with each new state.
    """

    def __init__(self, journal: Journal, empty: Classifier, state: State, announce: Callable[[State], None]) -> None:
        self.journal, self._empty, self.state, self._announce = journal, empty, state, announce
        self._turn = threading.RLock()  # whoever has the turn may change something besides

    def alone(self) -> AbstractContextManager[bool]:
        """Lend the turn to whoever writes into the journal besides."""
        return self._turn

    def _expected(self, version: int | None) -> State:
        """Return the state, if it is the one that a client knows."""
        state = self.state
        if version is not None and version != state.version:
            raise RefusedError(
                412,
                "changed_meanwhile",
                f"Expected the model to be at version {version}, got {state.version}: somebody else taught it.",
                "Look at it again, then decide.",
            )
        return state

    def _check_classes(self, state: State, labels: Sequence[str]) -> None:
        if not labels:
            raise InputError("Expected at least one class, got none. Name some.")
        for label in labels:
            if not state.classifier.n_examples_of(label):
                raise missing("a class", label, "GET /v1/classes lists them.")

    def _event(
        self,
        what: What,
        n: int,
        classes: Sequence[str],
        detail: Mapping[str, object] | None = None,
        of: int | None = None,
    ) -> Event:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return Event(self.state.version + 1, what, now, n, classes, detail or {}, of)

    def _become(self, event: Event, classifier: Classifier) -> Change:
        self.state = replace(
            self.state, version=event.version, classifier=classifier, stack=self.state.stack.after(event)
        )
        self._announce(self.state)
        return Change(event.version, event=event)
