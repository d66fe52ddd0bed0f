"""One Ray cluster of three nodes a process: the third has a disk of its own."""

import os
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from anacp import cluster, load_sample
from anacp.learners import RanPAC

QUIET = {
    "RAY_AUTH_MODE": "disabled",  # a token of the user must not decide whether nodes talk to each other
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "3",
    "RAY_enable_metrics_collection": "0",
}
MEMORY = 80_000_000
WITHOUT = "needs the package ray: pip install 'anacp[ray]'"


class Machines:
    """A cluster whose nodes the tests take away and add."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        self._folder, self._disks = folder, 0
        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False},
        )
        self.add()
        self.add(own_disk=True)

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self, *, own_disk: bool = False) -> None:
        options: dict[str, Any] = {}
        if own_disk:
            self._disks += 1
            options["env_vars"] = {"ANACP_HOME": str(self._folder / f"disk-{self._disks}")}
        self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY, **options)

    def remove(self, node_id: str) -> None:
        """Take a node away, as a machine that loses its power."""
        node = next(one for one in self.cluster.worker_nodes if one.node_id == node_id)
        self.cluster.remove_node(node, allow_graceful=False)


@pytest.fixture(scope="session")
def machines(anacp_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    if find_spec("ray") is None:
        pytest.skip(WITHOUT)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Ray's own parts say of each other
        for name, value in QUIET.items():
            patch.setenv(name, value)
        made = Machines(tmp_path_factory.mktemp("disks"))
        yield made
        made.cluster.shutdown()


@pytest.fixture(scope="session")
def nodes(machines: Machines) -> Iterator[cluster.Cluster]:
    """A connection to it."""
    with cluster.connected(machines.address) as found:
        yield found


@pytest.fixture(scope="session")
def workers(nodes: cluster.Cluster) -> Iterator[cluster.Pool]:
    """Workers for features, one a node; whichever test ends some, they are started again."""
    made = cluster.pool_of(nodes, cpus=1)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Sums of floating-point numbers come out the same to the bit with as many threads as the workers have."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(ridge: float = 1.0) -> RanPAC:
    """λ says nothing of what is learned, but tells one job from another."""
    return RanPAC(n_projected=60, ridge=ridge)


@pytest.fixture(scope="session")
def rows() -> tuple[np.ndarray, np.ndarray]:
    sample = load_sample("clinc150")
    kept = np.flatnonzero(sample.y_train < 40) if sample.y_train.dtype.kind in "iu" else np.arange(4000)
    return sample.x_train[kept][:4000, :64].copy(), sample.y_train[kept][:4000]


@pytest.fixture(scope="session")
def source(rows: tuple[np.ndarray, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The rows in three files."""
    folder = tmp_path_factory.mktemp("features")
    x, y = rows
    for number, part in enumerate(np.array_split(np.arange(len(x)), 3)):
        parts = {"xtr": x[part], "ytr": y[part], "xte": x[:1], "yte": y[:1]}
        np.savez(folder / f"part-{number}.npz", **parts)
    return str(folder)


def tensors(model: Any) -> dict[str, torch.Tensor]:
    """All that a learner has learned."""
    return dict(model._knowledge.memory.tensors())


def assert_same(model: Any, other: Any) -> None:
    """To the bit."""
    mine, theirs = tensors(model), tensors(other)
    assert mine.keys() == theirs.keys()
    assert model.classes_.tolist() == other.classes_.tolist()
    for name in mine:
        assert torch.equal(mine[name], theirs[name]), name


def assert_close(model: Any, other: Any, x: np.ndarray) -> None:
    """To the tolerance of the merge law: equal counts, means and scores."""
    mine, theirs = tensors(model), tensors(other)
    assert mine.keys() == theirs.keys()
    assert torch.equal(mine["moments.counts"], theirs["moments.counts"])
    scores = other.decision_function(x)
    for name, one, wanted in (
        ("means", mine["moments.means"].numpy(), theirs["moments.means"].numpy()),
        ("scores", model.decision_function(x), scores),
    ):
        np.testing.assert_allclose(one, wanted, rtol=1e-3, atol=1e-3 * float(np.abs(wanted).max()), err_msg=name)


ROWS = 100  # of a shard


@pytest.fixture(scope="session")
def by_formula(rows: tuple[np.ndarray, np.ndarray]) -> RanPAC:
    """The sum of all shards as the tree has it, computed here without a cluster."""
    from anacp.cluster.tree import Range

    x, y = rows
    shards = [
        chosen[start : start + ROWS]
        for chosen in np.array_split(np.arange(len(x)), 3)
        for start in range(0, len(chosen), ROWS)
    ]
    before = torch.get_num_threads()
    torch.set_num_threads(1)

    def total(one: Range) -> RanPAC:
        if len(one) == 1:
            return learner().partial_fit(x[shards[one.start]], y[shards[one.start]])
        left, right = one.halves
        return total(left) + total(right)

    whole = total(Range(0, len(shards)))
    torch.set_num_threads(before)
    return whole


def options() -> dict[str, Any]:
    return {"reading": cluster.Reading(), "rows": ROWS}


def killed(pid: int) -> bool:
    """Say whether a process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def end(pid: int) -> None:
    """End a process as the system does when memory runs out."""
    os.kill(pid, 9)
