"""From what is known to what answers: the newest state is solved while the one before goes on answering."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from anacp.errors import AnacpError
from anacp.methods import Classifier
from anacp.serve.teacher import State


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A version of the model that is solved, or why it could not be. Nobody changes it."""

    version: int
    classifier: Classifier | None  # None: nothing was learned
    seconds: float = 0.0  # what solving it took
    problem: str = ""


class Solver(threading.Thread):
    """Solves the newest state whenever there is another one; those in between are passed over.

    Parameters
    ----------
    announce : callable
        Called with each new snapshot.
    rest : callable
        Called when nothing has changed for a while, or much has, with the snapshot: the time to save it.
    """

    QUIET, MUCH = 20.0, 500  # seconds without a change, and changes, after which the model is saved

    def __init__(self, state: State, announce: Callable[[Snapshot], None], rest: Callable[[Snapshot], None]) -> None:
        super().__init__(name="anacp-solver", daemon=True)
        self._announce, self._rest = announce, rest
        self._wakes = threading.Condition()
        self._state, self._stopping = state, False
        self.snapshot, self._rested = solved(state), state.version

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
        """Solve, announce, and save when there is time."""
        while True:
            with self._wakes:
                waits = self.snapshot.version == self._state.version and not self._stopping
                if waits and self._rested != self.snapshot.version:
                    waits = self._wakes.wait(self.QUIET)
                elif waits:
                    self._wakes.wait()
                state, stopping = self._state, self._stopping
            if stopping:
                return
            if state.version != self.snapshot.version:
                self.snapshot = solved(state)
                self._announce(self.snapshot)
            quiet = not waits and self._state.version == self.snapshot.version
            if self.snapshot.version - self._rested >= self.MUCH or (quiet and self._rested != self.snapshot.version):
                self._rested = self.snapshot.version
                with suppress(
                    AnacpError, OSError
                ):  # such as a full disk: the journal has it all, and it is tried again
                    self._rest(self.snapshot)


def solved(state: State) -> Snapshot:
    """Return a state once it is solved, with probabilities and what tells the unknown."""
    if not state.classifier.n_examples:
        return Snapshot(state.version, None)
    start = monotonic()
    try:
        state.classifier.solve()
    except Exception as problem:  # whatever it is, what comes next must be solved again
        return Snapshot(state.version, None, monotonic() - start, f"{type(problem).__name__}: {problem}")
    return Snapshot(state.version, state.classifier, monotonic() - start)
