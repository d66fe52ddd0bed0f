"""What the driver asks of any worker: a list of things, each until it is answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from anacp.cluster.pool import Hand, Work
from anacp.cluster.worker import Hello, Refused
from anacp.errors import UnavailableError


class ListDesk:
    """Things to ask of any worker, each until it is answered once."""

    def __init__(self, works: Sequence[Work], take: Callable[[Work, Any, Hand | None], None]) -> None:
        self._waiting, self._take = deque(works), take
        self._left = {work.what for work in works}

    @property
    def finished(self) -> bool:
        """Whether all is answered."""
        return not self._left

    @property
    def n_left(self) -> int:
        """How much is not."""
        return len(self._left)

    def arrived(self, hand: Hand, hello: Hello) -> None:
        """Take no note: any worker will do."""

    def next(self, hand: Hand) -> Work | None:
        """Return the next thing to ask."""
        while self._waiting:
            work = self._waiting.popleft()
            if work.what in self._left:
                return work
        return None

    def done(self, hand: Hand | None, work: Work, answer: Any) -> None:
        """Take an answer, the first one of each."""
        if work.what in self._left:
            self._left.discard(work.what)
            self._take(work, answer, hand)

    def lost(self, work: Work) -> None:
        """Ask again, first of all."""
        self._waiting.appendleft(work)

    def gave_up(self, work: Work, reason: str) -> None:
        """Say what ends the processes that are at it."""
        self.done(None, work, Refused(UnavailableError(f"Expected an answer of {work.what}, got none: {reason}.")))

    def left(self, disks: set[str]) -> None:
        """Take no note: what was answered is here."""
