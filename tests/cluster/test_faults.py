"""Processes killed, nodes taken away, drivers stopped, at random: the same model to the bit, every time."""

import random
from typing import Any

import pytest

from anacp import cluster
from anacp.progress import Progress
from tests.cluster.conftest import Machines, assert_same, end, killed, learner, options

pytestmark = pytest.mark.cluster

SCHEDULES = 20
SEED = 20260


class Stopped(BaseException):
    """The driver ends in the middle."""


class Faults:
    """What goes wrong in one run, each when so much of it is done."""

    def __init__(self, number: int, machines: Machines, workers: cluster.Pool) -> None:
        draw = random.Random(f"{SEED}/{number}")
        kinds = draw.choices(
            ["kill working", "kill any", "take a node", "stop the driver"], [4, 2, 1, 2], k=draw.randint(1, 3)
        )
        self.planned = sorted((draw.uniform(0.0, 0.9), kind) for kind in kinds)
        self.happened: list[str] = []
        self._draw, self._machines, self._workers = draw, machines, workers

    def __str__(self) -> str:
        return f"seed {SEED}, " + ", ".join(f"{kind} at {share:.2f}" for share, kind in self.planned)

    def report(self, progress: Progress) -> None:
        if progress.words != "features" or not self.planned or progress.share < self.planned[0][0]:
            return
        kind = self.planned[0][1]
        greeted = [hand for hand in self._workers.hands if hand.pid and not killed(hand.pid)]
        working = [hand for hand in greeted if hand.work is not None]
        if kind == "stop the driver":
            self._note()
            raise Stopped
        if kind == "take a node":
            node = self._draw.choice(sorted(one.node_id for one in self._machines.cluster.worker_nodes))
            pids = [hand.pid for hand in greeted if hand.node.id == node]
            self._machines.remove(node)
            self._machines.add(own_disk=self._draw.random() < 0.5)
            assert all(map(killed, pids))
            self._note()
        elif greeted:  # where one worker is alone, it has just answered
            hand = self._draw.choice(working or greeted if kind == "kill working" else greeted)
            end(hand.pid)
            self._note()

    def _note(self) -> None:
        self.happened.append(self.planned.pop(0)[1])


@pytest.mark.parametrize("number", range(SCHEDULES))
def test_whatever_goes_wrong_the_model_is_the_same(
    number: int, machines: Machines, nodes: cluster.Cluster, workers: cluster.Pool, source: str, by_formula: Any
) -> None:
    faults = Faults(number, machines, workers)
    print(faults)
    planned, done = len(faults.planned), None
    job = learner(ridge=2.0 + number)  # what an earlier schedule has left on a disk is none of this one's
    while done is None:
        try:
            done = cluster.summed(nodes, [source], job, workers=workers, report=faults.report, **options())
        except Stopped:
            continue
    assert len(faults.happened) == planned, f"{faults}: only {faults.happened} happened"
    assert_same(done.learner, by_formula)
    assert sum(one.rows for one in done.tally.nodes.values()) + done.tally.found > 0
    done.clear()
