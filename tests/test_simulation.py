"""The simulation of docs/scale.md: what it must come to where that can be counted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from simulation import Faults, Outcome, Times, simulated

TIMES = Times(shards=[10.0], merges=[1.0], send=0.5)


def test_one_worker_does_one_thing_after_another() -> None:
    done = simulated(50, 1, 1, TIMES, Faults())
    assert done == Outcome(seconds=50 * 10 + 49 * 1, learned=50)


@pytest.mark.parametrize("n_nodes", [2, 5])
def test_work_is_shared(n_nodes: int) -> None:
    done = simulated(400, n_nodes, 4, TIMES, Faults())
    least = (400 * 10 + 399) / (4 * n_nodes)
    assert done.learned == 400
    assert least <= done.seconds < 1.3 * least + 30


def test_lost_nodes_cost_what_was_theirs_and_all_is_learned() -> None:
    plain = simulated(400, 4, 4, TIMES, Faults())
    lost = [simulated(400, 4, 4, TIMES, Faults(node_hours=0.2), seed=seed) for seed in range(10)]
    assert sum(one.lost_nodes for one in lost) > 3
    for one in lost:
        assert one.learned >= 400
        assert one.passed_over == 0
        assert (one.seconds > plain.seconds) == (one.lost_nodes > 0) or one.lost_nodes == 0
    assert simulated(400, 4, 4, TIMES, Faults(node_hours=0.2), seed=3) == lost[3]


def test_processes_that_end_again_and_again_are_what_passes_over_a_shard() -> None:
    some = simulated(400, 2, 2, TIMES, Faults(process_hours=0.5))
    assert some.ended_processes > 0
    assert some.passed_over == 0
    assert simulated(60, 2, 2, TIMES, Faults(process_hours=20 / 3600)).passed_over > 0
