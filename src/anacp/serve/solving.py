"""From what is known to what answers: the newest state is solved while the one before goes on answering."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from anacp.methods import Classifier
from anacp.serve.changes import State


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A version of the model that is solved, or why it could not be. Nobody changes it."""

    version: int
    classifier: Classifier | None  # None: nothing was learned
    seconds: float = 0.0  # what solving it took
    problem: str = ""
    settled: bool = True  # whether it has probabilities and tells the unknown, or only which label is likelier


class Solver(threading.Thread):
    """Solves the newest state whenever there is another one; those in between are passed over.

    A version comes in two steps. Solved, it says which labels are likelier: that is `newest`. Settled, it says how
    likely, and what is unknown: that is `snapshot`. What is solved is always settled before the next is solved, so that
    steady teaching does not hold back what answers.

    Parameters
    ----------
    state : State
        What is solved first, before this returns.
    announce : callable
        Called with each new snapshot, solved and settled.
    """

    def __init__(self, state: State, announce: Callable[[Snapshot], None]) -> None:
        super().__init__(name="anacp-solver", daemon=True)
        self._announce = announce
        self._wakes = threading.Condition()
        self._state, self._stopping = state, False
        self.snapshot = self.newest = settled(solved(state))

    def give(self, state: State) -> None:
        """Have another state solved."""
        with self._wakes:
            self._state = state
            self._wakes.notify_all()

    def stop(self) -> None:
        """Finish what is being solved, and end."""
        with self._wakes:
            self._stopping = True
            self._wakes.notify_all()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """Solve, announce, settle, announce, again and again."""
        while True:
            with self._wakes:
                while self.snapshot.version == self._state.version and not self._stopping:
                    self._wakes.wait()
                state, stopping = self._state, self._stopping
            if stopping:
                return
            self.newest = solved(state)
            self._announce(self.newest)
            self.snapshot = self.newest = settled(self.newest)
            self._announce(self.snapshot)


def solved(state: State) -> Snapshot:
    """Return a state once it is solved: which labels are likelier."""
    if not state.classifier.n_examples:
        return Snapshot(state.version, None)
    start = monotonic()
    try:
        state.classifier.learner.solve()
    except Exception as problem:  # whatever it is, what comes next must be solved again
        return Snapshot(state.version, None, monotonic() - start, f"{type(problem).__name__}: {problem}")
    return Snapshot(state.version, state.classifier, monotonic() - start, settled=False)


def settled(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with probabilities, and with what tells the unknown."""
    if snapshot.settled or snapshot.classifier is None:
        return snapshot
    start = monotonic()
    try:
        snapshot.classifier.solve()
    except Exception as problem:
        took = snapshot.seconds + monotonic() - start
        return Snapshot(snapshot.version, None, took, f"{type(problem).__name__}: {problem}")
    return replace(snapshot, settled=True, seconds=snapshot.seconds + monotonic() - start)
