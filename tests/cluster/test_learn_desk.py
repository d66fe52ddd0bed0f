"""Who gets which shard: without a cluster, by hands that answer in any order."""

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from anacp import cluster
from anacp.cluster.learn_desk import LearnDesk
from anacp.cluster.pool import Hand, Work
from anacp.cluster.shards import Shard
from anacp.cluster.tree import Range, branches
from anacp.cluster.worker import Hello, Job
from anacp.learners import NCM

TOLD = {"skipped": [], "cut": [], "foreign": [], "rows": 1, "seconds": 0.0}


def played(n_shards: int, n_nodes: int, seed: int, losing: float) -> tuple[Counter[str], int]:
    """Let hands with a disk each work until all is done; return what was asked how often, and how much was lost."""
    draw = random.Random(seed)
    shards = [Shard(number, "part", "mark", number, number + 1, number) for number in range(n_shards)]
    wanted = [(np.zeros(1, np.int32), np.zeros(1, np.int64))] * n_shards
    job, tally = Job("key", cluster.Reading(), NCM()), cluster.Tally()
    desk = LearnDesk(job, shards, wanted, home="disk 0", n_nodes=n_nodes, tally=tally, skip=False)
    nodes = [cluster.Node(f"node {number}", "", 1.0, 0.0) for number in range(n_nodes)]
    hands = [Hand(None, node, 0, f"disk {number}") for number, node in enumerate(nodes)]
    for hand in hands:
        desk.arrived(hand, Hello(hand.disk, 1, [], {}))
    busy: list[tuple[Hand, Work]] = []
    asked: Counter[str] = Counter()
    lost = 0
    while not desk.finished:
        free = [hand for hand in hands if hand not in [one for one, _ in busy]]
        for hand in free:
            work = desk.next(hand)
            if work is not None:
                busy.append((hand, work))
        assert busy, "nobody has anything to do"
        hand, work = busy.pop(draw.randrange(len(busy)))
        if draw.random() < losing:
            lost += 1
            desk.lost(work)
            continue
        asked[work.method] += 1
        answers: dict[str, Any] = {"learn": TOLD, "merge": 0.1, "send": "reference", "receive": 100}
        desk.done(hand, work, answers[work.method])
    assert desk.n_rows_left == 0
    assert set(desk.told) == set(range(n_shards))
    return asked, lost


@pytest.mark.parametrize("losing", [0.0, 0.2])
@pytest.mark.parametrize(("n_shards", "n_nodes"), [(1, 1), (2, 3), (37, 3), (150, 3), (256, 4), (500, 7)])
def test_every_shard_is_learned_once_and_every_sum_made_once(n_shards: int, n_nodes: int, losing: float) -> None:
    for seed in range(5):
        asked, lost = played(n_shards, n_nodes, seed, losing)
        assert asked["learn"] == n_shards
        assert asked["merge"] == n_shards - 1
        assert asked["receive"] == asked["send"] or losing
        assert bool(lost) == bool(losing) or n_shards < 3


def test_what_is_brought_does_not_grow_with_the_shards() -> None:
    brought = [max(played(n, 4, seed, 0.0)[0]["receive"] for seed in range(5)) for n in (64, 256, 1024)]
    most = [len(branches(n, 16)) + 4 * n.bit_length() for n in (64, 256, 1024)]
    assert all(one <= bound for one, bound in zip(brought, most, strict=True)), (brought, most)
    assert brought[-1] <= brought[0] + 32, brought


def test_disks_that_are_gone_take_their_sums_with_them() -> None:
    shards = [Shard(number, "part", "mark", number, number + 1, number) for number in range(4)]
    wanted = [(np.zeros(1, np.int32), np.zeros(1, np.int64))] * 4
    job = Job("key", cluster.Reading(), NCM())
    desk = LearnDesk(job, shards, wanted, home="a", n_nodes=2, tally=cluster.Tally(), skip=False)
    one = Hand(None, cluster.Node("1", "", 1.0, 0.0), 0, "a")
    other = Hand(None, cluster.Node("2", "", 1.0, 0.0), 0, "b")
    desk.arrived(one, Hello("a", 1, [Range(0, 2)], {0: TOLD, 1: TOLD}))
    desk.arrived(other, Hello("b", 1, [Range(2, 3)], {2: TOLD}))
    assert desk.n_rows_left == 1
    desk.left({"a"})
    assert desk.n_rows_left == 2
    asked = [desk.next(one), desk.next(one)]
    assert sorted(work.what for work in asked if work) == [2, 3]  # type: ignore[type-var]
