"""What each example would be taken for by a model that never saw it: accuracy, mistakes, confusions, suspects."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anacp.errors import InputError
from anacp.labels import Labels
from anacp.learners import leave_one_out
from anacp.serve import reading
from anacp.serve.journal import Journal
from anacp.serve.records import Digest

MOST = 20_000  # examples that are looked at: n · d² numbers are multiplied for them


@dataclass(frozen=True, eq=False)
class LookedBack:
    """The examples of one version, each judged by all others."""

    version: int
    digests: list[Digest]
    classes: Labels  # (c,)
    own: NDArray[np.intp]  # (n,) the class of each
    taken_for: NDArray[np.intp]  # (n,)
    margin: NDArray[np.float64]  # (n,) by how much its own class is ahead of the others; negative where it is not

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which examples would be recognised."""
        return np.asarray(self.own == self.taken_for)

    def wrong(self) -> list[int]:
        """Return the places of those that would not, the surest mistakes first."""
        return [
            int(place) for place in np.argsort(self.margin, kind="stable") if self.own[place] != self.taken_for[place]
        ]

    def label(self, place: int) -> str:
        """Return the class of an example."""
        return str(self.classes[self.own[place]])

    def rather(self, place: int) -> str:
        """Return what it would be taken for."""
        return str(self.classes[self.taken_for[place]])


class LookingBack:
    """Looks back once a version, when somebody asks; the others wait for it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._turn = threading.Lock()
        self._found: LookedBack | None = None

    def now(self) -> LookedBack:
        """Return how the examples of the newest version fare."""
        with self._turn:
            if self._found is None or self._found.version != self._journal.version:
                self._found = self._looked()
            return self._found

    def _looked(self) -> LookedBack:
        with self._journal.reading() as version:
            digests, labels, x = reading.features(self._journal)
        if len(set(labels)) < 2:
            raise InputError(
                f"Expected examples of two classes or more, got {len(set(labels))}. Teach another class first."
            )
        if len(labels) > MOST:  # evenly by digest, which is as good as at random
            chosen = np.linspace(0, len(labels) - 1, MOST).astype(int)
            digests, labels, x = [digests[place] for place in chosen], [labels[place] for place in chosen], x[chosen]
        classes, scores, _ = leave_one_out(x, np.asarray(labels))
        own, rows = np.searchsorted(classes, labels), np.arange(len(x))
        others = np.where(np.arange(len(classes)) == own[:, None], -np.inf, scores)
        return LookedBack(version, digests, classes, own, scores.argmax(1), scores[rows, own] - others.max(1))
