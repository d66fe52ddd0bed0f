"""Features learned on a cluster: the model of one machine."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anacp import cluster, load
from anacp.errors import MismatchError
from anacp.files import home
from tests.cluster.conftest import Machines, assert_close, assert_same, end, learner, options, tensors

pytestmark = pytest.mark.cluster


def test_the_sum_is_the_formula_to_the_bit_and_the_model_of_one_machine(
    nodes: cluster.Cluster, workers: cluster.Pool, source: str, rows: Any, by_formula: Any
) -> None:
    x, y = rows
    done = cluster.summed(nodes, [source], learner(), workers=workers, **options())
    assert_same(done.learner, by_formula)
    alone = learner().partial_fit(x, y)
    assert_close(done.learner, alone, x)
    did = done.tally.nodes.values()
    assert len(did) == 3
    assert sum(one.rows for one in did) == len(x)
    assert sum(one.shards for one in did) == done.tally.shards
    assert sum(one.sums for one in did) == done.tally.shards - 1
    done.clear()


def test_what_is_brought_between_disks_does_not_grow_with_the_rows(
    nodes: cluster.Cluster, workers: cluster.Pool, source: str
) -> None:
    brought = []
    for rows in (200, 25):  # 21 and 162 shards
        done = cluster.summed(nodes, [source], learner(), workers=workers, **options() | {"rows": rows})
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors(done.learner).values()) + 8192
        brought.append(done.tally.bytes_brought)
        # Of four branches for each of three nodes, each is brought home once; where nodes share a branch, a few more.
        assert done.tally.bytes_brought <= 2 * 4 * 3 * size
        done.clear()
    assert brought[1] <= 2.5 * max(brought[0], size), brought


def test_a_classifier_of_features_grows_by_the_cluster(
    nodes: cluster.Cluster, workers: cluster.Pool, source: str, rows: Any, by_formula: Any
) -> None:
    x, y = rows
    new = learner().partial_fit(-x[:50], np.full(50, "other") if y.dtype.kind == "U" else y[:50])
    done = cluster.learn_features(nodes, new, [source], workers=workers, **options())
    assert_same(done.model, new + by_formula)
    done.summed.clear()


def test_labels_of_another_kind_are_refused(
    nodes: cluster.Cluster, workers: cluster.Pool, source: str, rows: Any
) -> None:
    other = np.arange(10) if rows[1].dtype.kind == "U" else np.full(10, "text")
    with pytest.raises(ValueError, match="of the kind learned before"):
        cluster.learn_features(
            nodes, learner().partial_fit(rows[0][:10], other), [source], workers=workers, **options()
        )


def test_examples_that_change_on_the_way_are_refused(
    nodes: cluster.Cluster, workers: cluster.Pool, rows: Any, tmp_path: Path
) -> None:
    x, y = rows
    place = tmp_path / "one.npz"

    def write(x: np.ndarray) -> None:
        np.savez(place, xtr=x, ytr=y[:300], xte=x[:1], yte=y[:1])

    write(x[:300])
    told: list[str] = []

    def report(progress: Any) -> None:
        told.append(progress.words)
        if progress.words == "sources" and progress.share == 1:
            write(x[300:600])

    with pytest.raises(MismatchError, match="as it was at the start"):
        cluster.summed(nodes, [str(place)], learner(), workers=workers, report=report, **options())
    assert "sources" in told


def kept() -> list[Path]:
    return [*(home() / "cluster").glob("*/*.sum")]


@pytest.mark.parametrize("address", ["of the tests", "local"])
def test_a_driver_that_is_killed_goes_on_where_it_was(
    machines: Machines, workers: cluster.Pool, rows: Any, tmp_path: Path, address: str
) -> None:
    """With "local" the head of the cluster goes with it."""
    workers.close()  # the command needs the processors
    x, y = rows
    for number in range(160):
        part = slice(25 * number, 25 * (number + 1))
        np.savez(tmp_path / f"{number:03}.npz", xtr=x[part], ytr=y[part], xte=x[:1], yte=y[:1])
    model = tmp_path / "models" / "my.anacp"
    where = machines.address if address == "of the tests" else address
    files = sorted(map(str, tmp_path.glob("*.npz")))
    asked = [sys.executable, "-m", "anacp", "learn", *files, "--model", str(model), "--cluster", where]
    asked += ["--learner", "SLDA", "--exact", "--no-solve", "--json"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    before = set(kept())
    first = subprocess.Popen(asked, env=environment, start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        while not len(set(kept()) - before) >= 2:
            assert first.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
    finally:
        if address == "local":
            os.killpg(first.pid, 9)
        else:
            end(first.pid)
        first.wait()
    assert not model.exists()
    again = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True, timeout=300)
    facts = json.loads(again.stdout)
    assert facts["examples"] == len(x)
    assert facts["cluster"]["found"] >= 1, facts
    assert facts["cluster"]["found"] + sum(one["shards"] for one in facts["cluster"]["nodes"]) >= 160
    alone = load(model)
    expected = type(alone)(**alone.get_params()).partial_fit(x, y)
    assert_close(alone, expected, x)
    assert not set(kept()) - before, "what was kept against faults stays after the model was saved"
