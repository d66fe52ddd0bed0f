"""What the driver gives to workers that learn: the shards and sums of a tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anacp.cluster.pool import Hand, Work
from anacp.cluster.shards import Shard
from anacp.cluster.summary import Tally
from anacp.cluster.tree import Range, branches, leaf, parent
from anacp.cluster.worker import Digests, Hello, Job, Offsets, Refused
from anacp.errors import AnacpError, UnavailableError


class LearnDesk:
    """Shards to learn and sums to add, in a fixed tree; what is kept on some disk is done, whoever did it.

    Parameters
    ----------
    job : Job
        What is learned.
    shards : sequence of Shard
        The leaves of the tree, in order.
    wanted : sequence of (offsets, digests)
        What of each shard.
    home : str
        The driver's disk, to which the sums of branches are brought.
    n_nodes : int
        About how many nodes share the work; the sums do not depend on it.
    tally : Tally
        Where it is noted who did what.
    skip : bool
        Pass over shards that cannot be learned, instead of refusing everything.
    """

    def __init__(
        self,
        job: Job,
        shards: Sequence[Shard],
        wanted: Sequence[tuple[Offsets, Digests]],
        *,
        home: str,
        n_nodes: int,
        tally: Tally,
        skip: bool,
    ) -> None:
        self._job, self._shards, self._wanted, self._home, self._skip = job, shards, wanted, home, skip
        self._tally = tally
        self._branches = branches(len(shards), 4 * n_nodes if n_nodes > 1 else 1)
        self._at: dict[str, Range] = {}  # the branch, or part of one, that a node works at
        self._unclaimed: deque[Range] = deque()
        self._waiting: dict[Range, deque[int]] = {}  # its shards that nobody is at
        self.have: dict[Range, set[str]] = {}
        self._todo: set[int] = set()
        self.n_rows_left, self.n_skipped = 0, 0
        self._busy: set[tuple[str, Any]] = set()
        self._parcels: dict[tuple[Range, str], Any] = {}
        self._hopeless: dict[int, str] = {}
        self._disks: set[str] = set()
        self.told: dict[int, dict[str, Any]] = {}
        self.learned_here: set[int] = set()  # shards, by workers of this start
        self._recount()

    @property
    def whole(self) -> Range:
        """All shards."""
        return Range(0, len(self._shards))

    @property
    def finished(self) -> bool:
        """Whether the sum of all is kept somewhere."""
        return bool(self.have.get(self.whole))

    def arrived(self, hand: Hand, hello: Hello) -> None:
        """Count what is kept where a worker is."""
        first = hello.disk not in self._disks
        self._disks.add(hello.disk)
        for one in hello.ranges:
            self.have.setdefault(one, set()).add(hello.disk)
        self._tell(hello.told | self.told)
        if first or hello.ranges:
            self._recount()

    def left(self, disks: set[str]) -> None:
        """Count only what is kept on disks that can be reached; the rest is to be learned again."""
        self._disks &= disks
        self.have = {one: on & disks for one, on in self.have.items() if on & disks}
        self._parcels.clear()
        self._recount()

    def next(self, hand: Hand) -> Work | None:
        """Return a sum to add, a sum to bring, or a shard to learn: what waits for most comes first."""
        work = self._sum(hand) or self._shard(hand)
        if work is not None:
            self._busy.add((work.method, work.what))
        return work

    def done(self, hand: Hand, work: Work, answer: Any) -> None:
        """Take note of what a worker has kept."""
        self._busy.discard((work.method, work.what))
        if isinstance(answer, Refused):
            self._refused(work, answer.problem)
        elif work.method in ("learn", "give_up"):
            number = work.asked[1].number
            if number in self._todo:
                self._todo.discard(number)
                self.n_rows_left -= len(self._wanted[number][0])
            self._tell({number: answer})
            self.learned_here.add(number)
            self._add(leaf(number), hand.disk)
            self._tally.learned(hand.node, answer)
        elif work.method == "merge":
            whole = work.asked[1]
            for half in whole.halves:  # a copy on another disk is of no use any more
                self.have.pop(half, None)
            self._add(whole, hand.disk)
            self._tally.merged(hand.node, answer)
        elif work.method == "send":
            self._parcels[_parcel(work)] = answer
        else:
            self._parcels.pop(_parcel(work), None)
            self._add(work.asked[1], hand.disk)
            self._tally.brought(hand.node, answer)

    def lost(self, work: Work) -> None:
        """Have it done again."""
        self._busy.discard((work.method, work.what))
        if work.method == "receive":
            self._parcels.pop(_parcel(work), None)
        elif work.method in ("learn", "give_up"):
            self._put_back(work.asked[1].number)

    def gave_up(self, work: Work, reason: str) -> None:
        """Pass over a shard that ends the processes that are at it, or refuse everything."""
        if work.method == "learn" and work.asked[1].number not in self._todo:
            return  # another process has learned it meanwhile
        problem = UnavailableError(f"Expected to {work.method} {self._named(work)}, got no answer: {reason}.")
        if work.method != "learn" or not self._skip:
            raise problem
        self._hopeless[work.asked[1].number] = str(problem)

    def _refused(self, work: Work, problem: AnacpError) -> None:
        if work.method not in ("merge", "receive") or isinstance(problem, OSError):
            raise problem
        # A sum that is damaged, or that a driver before had added to another: what is not there is learned again.
        gone = work.asked[1].halves if work.method == "merge" else [work.asked[1]]
        for one in gone:
            self.have.pop(one, None)
        if work.method == "receive":
            self._parcels.pop(_parcel(work), None)
        self._recount()

    def _named(self, work: Work) -> str:
        return str(work.asked[1])

    def _add(self, one: Range, disk: str) -> None:
        self.have.setdefault(one, set()).add(disk)

    def _tell(self, told: Mapping[int, dict[str, Any]]) -> None:
        for number, words in told.items():
            before = self.told.get(number, {"skipped": ()})
            self.n_skipped += len(words["skipped"]) - len(before["skipped"])
            self.told[number] = words

    def _recount(self) -> None:
        """Find out which shards are in no sum that is kept, and give out the branches anew."""
        self.have = {one: on for one, on in self.have.items() if not self._inside_another(one)}
        covered = np.zeros(len(self._shards), bool)
        for start, stop in self.have:
            covered[start:stop] = True
        self._todo = set(np.flatnonzero(~covered).tolist())
        self.n_rows_left = sum(len(self._wanted[number][0]) for number in self._todo)
        under_way = {what for method, what in self._busy if method in ("learn", "give_up")}
        self._waiting = {
            one: deque(number for number in range(*one) if number in self._todo and number not in under_way)
            for one in self._branches
        }
        self._at = {}
        self._unclaimed = deque(self._branches)

    def _inside_another(self, one: Range) -> bool:
        above = parent(one, len(self._shards))
        while above is not None and above not in self.have:
            above = parent(above, len(self._shards))
        return above is not None

    def _put_back(self, number: int) -> None:
        if number in self._todo:
            next(waiting for one, waiting in self._waiting.items() if number in range(*one)).appendleft(number)

    def _sum(self, hand: Hand) -> Work | None:
        for left in sorted(self.have):
            whole = parent(left, len(self._shards))
            if whole is None or whole in self.have or whole.halves[0] != left or whole.halves[1] not in self.have:
                continue
            if ("merge", whole) in self._busy:
                continue
            both = self.have[left] & self.have[whole.halves[1]]
            if hand.disk in both:
                return Work("merge", whole, (self._job.key, whole))
            if not both and (work := self._carried(whole, hand)) is not None:
                return work
        return None

    def _carried(self, whole: Range, hand: Hand) -> Work | None:
        """Return what brings the halves of a sum together: at home if they are branches, else where the left is."""
        left, right = whole.halves
        inside = any(branch.holds(whole) for branch in self._branches)
        target = self._home if self._home in self._disks and not inside else min(self.have[left])
        key = self._job.key
        for half in (left, right):
            if target in self.have[half]:
                continue
            parcel = half, target
            if parcel in self._parcels:
                if hand.disk == target and ("receive", parcel) not in self._busy:
                    return Work("receive", parcel, (key, half, self._parcels[parcel]))
            elif hand.disk in self.have[half] and ("send", parcel) not in self._busy:
                return Work("send", parcel, (key, half), fetched=False)
        return None

    def _shard(self, hand: Hand) -> Work | None:
        number = self._number(hand)
        if number is None:
            return None
        shard, (offsets, digests) = self._shards[number], self._wanted[number]
        if number in self._hopeless:
            return Work("give_up", number, (self._job.key, shard, self._hopeless[number], offsets))
        return Work("learn", number, (self._job, shard, offsets, digests))

    def _number(self, hand: Hand) -> int | None:
        """Return a shard of this node's branch, else of one that nobody has claimed, else of what another has left."""
        node = hand.node.id
        while not self._waiting.get(self._at.get(node, Range(0, 0))):
            if not self._unclaimed and not self._split():
                return None
            self._at[node] = self._unclaimed.popleft()
        return self._waiting[self._at[node]].popleft()

    def _split(self) -> bool:
        """Free half of what waits in the fullest branch, as a part of the tree, whose sum is brought once.

        Shards that were taken one by one would each be brought by itself.
        """
        fullest = max(self._waiting, key=lambda one: len(self._waiting[one]))
        waiting, part = self._waiting[fullest], fullest
        if not waiting:
            return False
        while len(part) > 1:
            left, right = part.halves
            if max(waiting) < right.start:
                part = left
            elif min(waiting) >= right.start:
                part = right
            else:
                part = right
                break
        freed = deque(number for number in waiting if number in range(*part))
        rest = deque(number for number in waiting if number not in range(*part))
        del self._waiting[fullest]
        # What is before it stays with those who are at it; behind it nothing waits, but may come back.
        before, behind = Range(fullest.start, part.start), Range(part.stop, fullest.stop)
        self._waiting |= {part: freed, before: rest, behind: deque()}
        self._at = {node: before if one == fullest else one for node, one in self._at.items()}
        self._unclaimed.append(part)
        return True


def _parcel(work: Work) -> tuple[Range, str]:
    """Return which sum is sent or received, and the disk that it is for."""
    what: Any = work.what
    one, disk = what
    return one, disk
