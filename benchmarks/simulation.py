"""Learning on a cluster, replayed event by event: measured times of tasks, drawn faults, the rules of `anacp.cluster`.

The tree of sums and its branches are the library's own. A node works at branches that it has claimed, then at those of
others; sums are added where both halves are; a whole branch is brought to the driver's node. A process that ends costs
the task it was at, and counts against its shard, which is passed over after four; a node that is lost costs what was
learned there since its last whole branch, and counts against no shard.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anacp.cluster.tree import Range, branches, leaf, parent

ATTEMPTS = 4
HOME = 0  # the driver's node, which stays
PROCESS_AGAIN, NODE_AGAIN = 10.0, 120.0  # seconds until another process, another node, works in its place


@dataclass(frozen=True)
class Times:
    """Seconds of each kind of task, one of which is drawn every time."""

    shards: Sequence[float]
    merges: Sequence[float]
    send: float


@dataclass(frozen=True)
class Faults:
    """How many hours there are between two of one node, and of one process; 0 is never."""

    node_hours: float = 0.0
    process_hours: float = 0.0


@dataclass
class Outcome:
    """How it went."""

    seconds: float = 0.0
    learned: int = 0  # shards, again and again
    lost_nodes: int = 0
    ended_processes: int = 0
    passed_over: int = 0


@dataclass(order=True)
class _Event:
    at: float
    order: int
    what: str = field(compare=False)  # "work", "process", "node", "back"
    node: int = field(compare=False)
    life: int = field(compare=False, default=0)  # of the node: those of an earlier one are void
    job: tuple[str, Range] | None = field(compare=False, default=None)


class _Simulation:
    def __init__(self, n_shards: int, n_nodes: int, slots: int, times: Times, faults: Faults, seed: int) -> None:
        self.n_shards, self.n_nodes, self.slots, self.times, self.faults = n_shards, n_nodes, slots, times, faults
        self.draw = np.random.default_rng(seed)
        self.now, self.outcome, self._order = 0.0, Outcome(), 0
        self.events: list[_Event] = []
        self.branches = branches(n_shards, 4 * n_nodes if n_nodes > 1 else 1)
        self.branch_of = {number: one for one in self.branches for number in range(*one)}
        self.todo = {one: list(range(one.stop - 1, one.start - 1, -1)) for one in self.branches}
        self.owner: dict[Range, int] = {}
        self.where: dict[Range, int] = {}  # sums that nobody is adding or bringing just now
        self.jobs: list[list[tuple[str, Range]]] = [[] for _ in range(n_nodes)]  # what waits on each node
        self.free = [slots] * n_nodes
        self.life, self.alive = [0] * n_nodes, [True] * n_nodes
        self.busy: list[dict[int, tuple[str, Range]]] = [{} for _ in range(n_nodes)]  # by the order of their events
        self.attempts: dict[tuple[str, Range], int] = {}

    def run(self) -> Outcome:
        for node in range(self.n_nodes):
            self._next_fault(node)
            self._fill(node)
        whole = Range(0, self.n_shards)
        while self.where.get(whole) != HOME:
            event = heapq.heappop(self.events)
            self.now = event.at
            if event.what == "back":
                self.alive[event.node], self.free[event.node] = True, self.slots
                self._next_fault(event.node)
            elif event.life != self.life[event.node]:
                continue
            elif event.what == "work":
                self._done(event)
            elif event.what == "again":
                self.free[event.node] += 1
            elif event.what == "node":
                self._node_lost(event.node)
            else:
                self._process_ended(event.node)
            for node in range(self.n_nodes) if event.what in ("node", "back") else {event.node, HOME}:
                self._fill(node)
        self.outcome.seconds = self.now
        return self.outcome

    def _push(self, after: float, what: str, node: int, job: tuple[str, Range] | None = None) -> int:
        self._order += 1
        heapq.heappush(self.events, _Event(self.now + after, self._order, what, node, self.life[node], job))
        return self._order

    def _next_fault(self, node: int) -> None:
        if self.faults.process_hours:
            self._push(self.draw.exponential(self.faults.process_hours * 3600 / self.slots), "process", node)
        if self.faults.node_hours and node != HOME:
            self._push(self.draw.exponential(self.faults.node_hours * 3600), "node", node)

    def _fill(self, node: int) -> None:
        """Give work to all that have none: a sum to add or to bring first, then a shard."""
        while self.alive[node] and self.free[node]:
            job = self.jobs[node].pop() if self.jobs[node] else self._shard(node)
            if job is None:
                return
            kind = {"learn": self.times.shards, "merge": self.times.merges, "send": [self.times.send]}[job[0]]
            self.free[node] -= 1
            self.busy[node][self._push(float(self.draw.choice(kind)), "work", node, job)] = job

    def _shard(self, node: int) -> tuple[str, Range] | None:
        own = [one for one, owner in self.owner.items() if owner == node and self.todo[one]]
        if not own:
            own = [one for one in self.branches if one not in self.owner and self.todo[one]][:1]
            self.owner |= dict.fromkeys(own, node)
        if own:
            return "learn", leaf(self.todo[own[0]].pop())
        most = max(self.branches, key=lambda one: len(self.todo[one]))
        return ("learn", leaf(self.todo[most].pop(0))) if self.todo[most] else None

    def _done(self, event: _Event) -> None:
        assert event.job is not None
        if self.busy[event.node].pop(event.order, None) is None:  # its process had ended
            return
        self.free[event.node] += 1
        kind, one = event.job
        self.outcome.learned += kind == "learn"
        for half in one.halves if kind == "merge" else ():
            self.where.pop(half, None)
        self._put(one, self._home_of(one) if kind == "send" else event.node)

    def _home_of(self, one: Range) -> int:
        """Where a sum is to be: where its branch is worked at, and home once it is a whole branch."""
        branch = self.branch_of[one.start]
        return HOME if len(one) >= len(branch) else self.owner.get(branch, HOME)

    def _put(self, one: Range, node: int) -> None:
        """Keep a sum on a node, and see what can be done with it."""
        self.where[one] = node
        if node != self._home_of(one):
            self.jobs[node].append(("send", one))
            return
        whole = parent(one, self.n_shards)
        if whole is not None and all(self.where.get(half) == node for half in whole.halves):
            self.jobs[node].append(("merge", whole))

    def _again(self, job: tuple[str, Range], node: int) -> None:
        kind, one = job
        if kind == "learn":
            self.todo[self.branch_of[one.start]].append(one.start)
        else:
            self.jobs[node].append(job)

    def _process_ended(self, node: int) -> None:
        self._push(self.draw.exponential(self.faults.process_hours * 3600 / self.slots), "process", node)
        busy = list(self.busy[node])
        if not busy:
            return
        job = self.busy[node].pop(int(self.draw.choice(busy)))
        self.outcome.ended_processes += 1
        self._push(PROCESS_AGAIN, "again", node)
        self.attempts[job] = self.attempts.get(job, 0) + 1
        if self.attempts[job] >= ATTEMPTS and job[0] == "learn":
            self.outcome.passed_over += 1
            self._put(job[1], node)
        else:
            self._again(job, node)

    def _node_lost(self, node: int) -> None:
        """What was only there is to be learned again, and its branches are anybody's."""
        self.outcome.lost_nodes += 1
        self.life[node] += 1
        self.alive[node], self.jobs[node] = False, []
        gone = [one for one, at in self.where.items() if at == node]
        gone += [one for kind, one in self.busy[node].values() if kind == "learn"]
        self.busy[node] = {}
        for one in gone:
            self.where.pop(one, None)
            # A sum stands for its shards, unless a larger one does.
            for number in range(*one):
                branch = self.branch_of[number]
                if number not in self.todo[branch] and not self._covered(number):
                    self.todo[branch].append(number)
        self.owner = {one: owner for one, owner in self.owner.items() if owner != node}
        for other in range(self.n_nodes):  # what lies elsewhere of these branches has another place to go now
            moved = [one for one, at in self.where.items() if at == other and self._home_of(one) != other]
            for one in moved:
                if ("send", one) not in self.jobs[other] and ("send", one) not in self.busy[other].values():
                    self.jobs[other].append(("send", one))
        self._push_back(node)

    def _push_back(self, node: int) -> None:
        self._order += 1
        heapq.heappush(self.events, _Event(self.now + NODE_AGAIN, self._order, "back", node, self.life[node]))

    def _covered(self, number: int) -> bool:
        one: Range | None = leaf(number)
        while one is not None:
            if one in self.where:
                return True
            one = parent(one, self.n_shards)
        return False


def simulated(n_shards: int, n_nodes: int, slots: int, times: Times, faults: Faults, *, seed: int = 0) -> Outcome:
    """Return how learning so many shards goes on nodes of so many workers."""
    return _Simulation(n_shards, n_nodes, slots, times, faults, seed).run()
