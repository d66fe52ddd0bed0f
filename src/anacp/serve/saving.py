"""The model file as a checkpoint: written when there is time, and again if it could not be."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from anacp.errors import AnacpError
from anacp.serve.solving import Snapshot

LOG = logging.getLogger(__name__)


class Saver(threading.Thread):
    """Saves the newest snapshot when nothing has changed for a while, or much has. Nobody waits for it.

    What could not be saved, such as on a full disk, is tried again after the same while; nothing is lost meanwhile,
    since the journal has it all.

    Parameters
    ----------
    saved : int
        The version that the file has.
    save : callable
        Writes a snapshot.
    """

    QUIET, MUCH = 20.0, 500  # seconds without a change, and changes, after which the model is saved

    def __init__(self, saved: int, save: Callable[[Snapshot], None]) -> None:
        super().__init__(name="anacp-saver", daemon=True)
        self._save, self._saved, self._tried = save, saved, saved
        self._wakes = threading.Condition()
        self._snapshot: Snapshot | None = None
        self._stopping = False
        self.problem = ""  # why the file is behind

    def give(self, snapshot: Snapshot) -> None:
        """Have another snapshot saved, some time."""
        with self._wakes:
            self._snapshot = snapshot
            self._wakes.notify_all()

    def stop(self) -> None:
        """Finish what is being saved, and end."""
        with self._wakes:
            self._stopping = True
            self._wakes.notify_all()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """Wait for quiet, save, again and again."""
        while (snapshot := self._due()) is not None:
            self._tried = snapshot.version
            try:
                self._save(snapshot)
            except (AnacpError, OSError) as problem:
                self._said(f"The model file is behind, and the journal has it all: {problem}")
            else:
                self._saved, self.problem = snapshot.version, ""

    def _said(self, problem: str) -> None:
        if problem != self.problem:  # once, however often it is tried
            LOG.warning(problem)
        self.problem = problem

    def _due(self) -> Snapshot | None:
        """Return what is to be saved now, once there is something; None at the end."""
        with self._wakes:
            while not self._stopping:
                snapshot = self._snapshot
                if snapshot is None or snapshot.classifier is None or snapshot.version == self._saved:
                    self._wakes.wait()
                elif snapshot.version - self._tried >= self.MUCH or not self._wakes.wait(self.QUIET):
                    return self._snapshot
            return None
