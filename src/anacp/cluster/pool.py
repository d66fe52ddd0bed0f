"""Workers on the nodes of a cluster, and what is given to them: processes and nodes may come and go at any time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any, Protocol

from anacp.cluster.connecting import Cluster, Node
from anacp.cluster.worker import Hello, Refused
from anacp.errors import UnavailableError

REFRESH_SECONDS = 1.0  # between looks at which nodes there are
MOST_ATTEMPTS = 4  # deaths of processes that worked at one thing while their node lived on
# Of a worker on a node, one after the other without a word from it, each after a longer while: a node that is gone is
# known to be only after some seconds.
MOST_STARTS = 6
MOST_WORDS = 500  # of what Ray says, in a message


@dataclass(frozen=True)
class Work:
    """Something that a worker is asked for."""

    method: str
    what: Hashable  # that tells it from other work of this method
    asked: tuple[Any, ...] = field(compare=False)
    fetched: bool = field(default=True, compare=False)  # whether the answer comes here, or only a reference to it


@dataclass(eq=False)
class Hand:
    """A worker, where it is, and what it is at."""

    actor: Any
    node: Node
    slot: int
    disk: str = ""  # empty until it has said hello
    pid: int = 0
    work: Work | None = None
    reference: Any = None
    desk: Any = None  # who gave it


class Desk(Protocol):
    """Who gives out work and takes what comes of it."""

    @property
    def finished(self) -> bool:
        """Whether all is done."""

    def arrived(self, hand: Hand, hello: Hello) -> None:
        """Take note of a worker, and of what is kept where it is."""

    def next(self, hand: Hand) -> Work | None:
        """Return work for a hand that has none, or None if there is nothing for it just now."""

    def done(self, hand: Hand, work: Work, answer: Any) -> None:
        """Take an answer."""

    def lost(self, work: Work) -> None:
        """Take work back that nobody will answer."""

    def gave_up(self, work: Work, reason: str) -> None:
        """Take note that work ends the processes that are at it."""

    def left(self, disks: set[str]) -> None:
        """Take note that only these disks are still to be reached."""


class Pool:
    """The workers of a cluster: as many on each node as it has room for, started anew where one ends.

    Parameters
    ----------
    cluster : Cluster
        Where they run.
    start : callable
        Starts an actor on a node.
    slots : callable
        How many workers a node gets.
    key : str
        The job, for their hello.
    """

    def __init__(
        self, cluster: Cluster, start: Callable[[Node], Any], slots: Callable[[Node], int], key: str = ""
    ) -> None:
        self._cluster, self._start, self._slots, self.key = cluster, start, slots, key
        self.hands: list[Hand] = []
        self._nodes: dict[str, Node] = {}
        self._looked = -REFRESH_SECONDS
        self._starts: dict[tuple[str, int], int] = {}
        self._not_before: dict[tuple[str, int], float] = {}
        self._suspects: dict[tuple[str, int], Work] = {}  # what was worked at where a process ended
        self._attempts: dict[tuple[str, Hashable], int] = {}
        self._last_words = ""
        self.deaths, self.lost_nodes = 0, 0  # of processes whose node lived on, and of nodes

    def run(self, desk: Desk, told: Callable[[], None]) -> None:
        """Give out work until all of it is done."""
        for hand in self.hands:
            hand.disk = ""  # each desk greets them: it wants to know what is kept
        self._suspects.clear()
        self._attempts.clear()
        while not desk.finished:
            self._refresh(desk)
            for hand in list(self.hands):
                if hand.work is None:
                    self._give(hand, desk)
            busy = {hand.reference: hand for hand in self.hands if hand.work is not None}
            if not busy:
                self._wait_for_nodes()
                continue
            ready, _ = self._cluster.ray.wait(list(busy), timeout=REFRESH_SECONDS, fetch_local=False)
            for reference in ready:
                self._take(busy[reference], desk)
            told()

    def everywhere(self, method: str, *asked: Any) -> Iterator[Any]:
        """Ask one worker of each disk, and yield what those answer that live."""
        ray = self._cluster.ray
        chosen = {hand.disk: hand for hand in self.hands if hand.disk}
        references = [getattr(hand.actor, method).remote(*asked) for hand in chosen.values()]
        for reference in references:
            try:
                yield ray.get(reference)
            except ray.exceptions.RayError:
                continue

    def close(self) -> None:
        """End the workers."""
        for hand in self.hands:
            self._cluster.ray.kill(hand.actor)
        self.hands.clear()

    def _give(self, hand: Hand, desk: Desk) -> None:
        known = tuple({one.disk for one in self.hands if one.disk})
        work = desk.next(hand) if hand.disk else Work("hello", hand.slot, (self.key, known))
        if work is not None:
            hand.work, hand.desk = work, desk
            hand.reference = getattr(hand.actor, work.method).remote(*work.asked)

    def _take(self, hand: Hand, desk: Desk) -> None:
        ray, work = self._cluster.ray, hand.work
        assert work is not None
        if hand not in self.hands:  # its node was found to be gone meanwhile
            return
        try:
            answer = ray.get(hand.reference) if work.fetched else hand.reference
        except ray.exceptions.RayTaskError as problem:
            cause = problem.cause
            if isinstance(cause, ray.exceptions.RayTaskError) or not isinstance(cause, ray.exceptions.RayError):
                raise  # a mistake of ours: it says where
            hand.work = None  # what it was given was lost on its way, with the process that gave it
            self._back(hand, work, desk)
            return
        except ray.exceptions.RayError as problem:
            died = isinstance(problem, ray.exceptions.RayActorError)
            if work.method == "hello" or (died and problem.actor_id in (None, hand.actor._actor_id.hex())):
                self._ended(hand, desk, problem)
            else:  # what it was given by another one, or its answer, went with a process or a node
                hand.work = None
                self._back(hand, work, desk)
            return
        hand.work = None
        if hand.desk is not desk:  # what an earlier desk had asked
            return
        if isinstance(answer, Refused) and work.method == "hello":
            raise answer.problem
        if isinstance(answer, Hello):
            self._greeted(hand, answer, desk)
        else:
            desk.done(hand, work, answer)

    def _greeted(self, hand: Hand, hello: Hello, desk: Desk) -> None:
        """Take note that a worker answers: its node lives, and whoever ended in its place did so by itself."""
        hand.disk, hand.pid = hello.disk, hello.pid
        place = hand.node.id, hand.slot
        self._starts.pop(place, None)
        self._not_before.pop(place, None)
        desk.arrived(hand, hello)
        work = self._suspects.pop(place, None)
        if work is None:
            return
        self.deaths += 1
        attempts = self._attempts[work.method, work.what] = self._attempts.get((work.method, work.what), 0) + 1
        if attempts >= MOST_ATTEMPTS:
            desk.gave_up(work, f"{attempts} processes that worked at it were ended: out of memory, or by a crash")

    def _ended(self, hand: Hand, desk: Desk, problem: Exception) -> None:
        """Take note that a process is gone; whether with its node is known once another one answers in its place."""
        self.hands.remove(hand)
        self._cluster.ray.kill(hand.actor)  # one that is only out of reach would work for nobody
        self._last_words = " ".join(str(problem).split())[-MOST_WORDS:]
        work = hand.work
        if work is not None and self._back(hand, work, desk):
            self._suspects[hand.node.id, hand.slot] = work
        self._looked = -REFRESH_SECONDS

    def _refresh(self, desk: Desk) -> None:
        """Start workers where there are none, and forget those of nodes that are gone."""
        if monotonic() - self._looked < REFRESH_SECONDS:
            return
        self._looked = monotonic()
        now = {node.id: node for node in self._cluster.nodes()}
        gone = self._nodes.keys() - now.keys()
        self.lost_nodes += len(gone)
        for hand in [hand for hand in self.hands if hand.node.id in gone]:
            self.hands.remove(hand)
            if hand.work is not None:
                self._back(hand, hand.work, desk)
        self._suspects = {place: work for place, work in self._suspects.items() if place[0] in now}
        self._nodes = now
        there = {(hand.node.id, hand.slot) for hand in self.hands}
        for node in now.values():
            for slot in range(self._slots(node)):
                if (node.id, slot) not in there:
                    self._begin(node, slot)
        if gone:
            desk.left({hand.disk for hand in self.hands if hand.disk})

    def _back(self, hand: Hand, work: Work, desk: Desk) -> bool:
        """Give work back to the desk that it is from, if it still waits for it."""
        mine = hand.desk is desk and work.method != "hello"
        if mine:
            desk.lost(work)
        return mine

    def _begin(self, node: Node, slot: int) -> None:
        place = node.id, slot
        if monotonic() < self._not_before.get(place, 0.0):
            return
        starts = self._starts[place] = self._starts.get(place, 0) + 1
        self._not_before[place] = monotonic() + 2.0 ** (starts - 1)
        if starts > MOST_STARTS:
            raise UnavailableError(
                f"Expected a process that works on {node.name}, got {MOST_STARTS} that ended before they said a word. "
                "Its memory may be too small for the network, or it lacks a package that the network needs. Ray says: "
                f"… {self._last_words}"
            )
        self.hands.append(Hand(self._start(node), node, slot))

    def _wait_for_nodes(self) -> None:
        if not self.hands and not any(self._slots(node) for node in self._nodes.values()):
            raise UnavailableError(
                "Expected nodes with a processor to work with, got a cluster without one. Add a node (`ray start "
                "--address ADDRESS`), or start the head with --num-cpus."
            )
        sleep(0.05)
