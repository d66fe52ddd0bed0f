"""Runs of experiments as tasks of a cluster: the same folders, the same resume, and a lost node repeats its runs."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from anacp import cluster
from anacp.experiments import Failed, Finished, ScenarioSettings, Specification, Status, Stepped, sweep
from tests.cli.conftest import anacp
from tests.cluster.conftest import Machines, killed
from tests.experiments.test_killed import comparable
from tests.reports.made import write_features

pytestmark = pytest.mark.cluster

# Says in which process and on which node it works, and goes on when it may.
WAITING = """
import os, pathlib, time
from anacp.catalogue import method
from anacp.learners import NCM

HERE = pathlib.Path(__file__).parent

@method()
class Waiting(NCM):
    def _solve(self, memory, before):
        import ray
        node = ray.get_runtime_context().get_node_id()
        said = HERE / f"{self.random_state}-{len(memory.classes)}-{os.getpid()}.at"
        said.with_suffix(".part").write_text(node)
        said.with_suffix(".part").rename(said)
        while not (HERE / "go").exists():
            time.sleep(0.05)
        return super()._solve(memory, before)
"""


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_features(tmp_path_factory.mktemp("features") / "blobs.npz", n_classes=6)


def specifications(features: str, *names: str, n_seeds: int = 1, **more: Any) -> list[Specification]:
    three = ScenarioSettings(tasks=3)
    return [
        Specification(features, name, seed=seed, scenario=three, **more) for name in names for seed in range(n_seeds)
    ]


def ended(statuses: list[Status]) -> dict[str, Any]:
    return {str(s.event.specification.folder): s.event for s in statuses if isinstance(s.event, Finished | Failed)}


def test_runs_are_those_of_this_machine(features: str, tmp_path: Path, nodes: cluster.Cluster) -> None:
    runs = specifications(features, "NCM", "SLDA", n_seeds=2)
    here = ended(list(sweep(runs, tmp_path / "here", jobs=1)))
    statuses = list(sweep(runs, tmp_path / "there", crew=cluster.runs_on(nodes)))
    there = ended(statuses)
    assert there.keys() == here.keys()
    assert sum(isinstance(status.event, Stepped) for status in statuses) == 3 * len(runs)
    for one in runs:
        assert comparable(tmp_path / "there" / one.folder) == comparable(tmp_path / "here" / one.folder)
        assert there[str(one.folder)].result.folder == tmp_path / "there" / one.folder
    again = ended(list(sweep(runs, tmp_path / "there", crew=cluster.runs_on(nodes))))
    assert all(event.reused for event in again.values())


def waiting(folder: Path) -> str:
    (folder / "waiting.py").write_text(WAITING)
    return str(folder / "waiting.py")


def at(folder: Path, n: int) -> dict[int, tuple[str, Path]]:
    """Return which node each seed is at, once so many are."""
    for _ in range(1200):
        found = sorted(folder.glob("*.at"))
        if len(found) >= n:
            return {int(path.name.split("-")[0]): (path.read_text(), path) for path in found}
        time.sleep(0.05)
    raise AssertionError(f"expected {n} runs to begin, got {found}")


@pytest.mark.usefixtures("own_registry")
def test_a_lost_node_repeats_its_runs_only(
    features: str, tmp_path: Path, machines: Machines, nodes: cluster.Cluster
) -> None:
    runs = specifications(features, "Waiting", n_seeds=3, file=waiting(tmp_path))
    lost: list[int] = []

    def lose() -> None:
        begun = at(tmp_path, 3)
        workers = {one.node_id for one in machines.cluster.worker_nodes}
        seed = next(seed for seed, (node, _) in begun.items() if node in workers)
        machines.remove(begun[seed][0])
        pid = int(begun[seed][1].stem.split("-")[2])
        while not killed(pid):
            time.sleep(0.05)
        lost.append(seed)
        (tmp_path / "go").touch()

    thread = threading.Thread(target=lose)
    thread.start()
    found = ended(list(sweep(runs, tmp_path / "runs", crew=cluster.runs_on(nodes))))
    thread.join()
    machines.add(own_disk=True)
    assert len(found) == 3
    assert all(isinstance(event, Finished) for event in found.values())
    begun = {seed: len(list(tmp_path.glob(f"{seed}-2-*.at"))) for seed in range(3)}  # attempts at the first task
    assert begun == {seed: 1 + (seed in lost) for seed in range(3)}


@pytest.mark.usefixtures("own_registry")
def test_a_run_that_ends_its_process_is_given_up_and_its_steps_are_kept(
    features: str, tmp_path: Path, nodes: cluster.Cluster
) -> None:
    # Of another name: a process that has known a method goes on with it.
    healed = WAITING.replace("class Waiting", "class Deadly")
    dies = "if len(memory.classes) == 6:\n            os.kill(os.getpid(), 9)\n        while not"
    (tmp_path / "deadly.py").write_text(healed.replace("while not", dies))
    (tmp_path / "go").touch()
    runs = specifications(features, "Deadly", file=str(tmp_path / "deadly.py")) + specifications(features, "NCM")
    crew = cluster.runs_on(nodes)
    found = ended(list(sweep(runs, tmp_path / "runs", crew=crew, checkpoint_seconds=0)))
    failed = found[str(runs[0].folder)]
    assert isinstance(failed, Failed)
    assert "process ended 4 times" in failed.error
    assert isinstance(found[str(runs[1].folder)], Finished)
    folder = tmp_path / "runs" / runs[0].folder
    assert len((folder / "steps.jsonl").read_text().splitlines()) == 2
    assert len(list(tmp_path.glob("0-2-*.at"))) == 1, "later attempts go on after the last checkpoint"
    (tmp_path / "deadly.py").write_text(healed)
    found = ended(list(sweep(runs, tmp_path / "runs", crew=crew)))
    assert isinstance(found[str(runs[0].folder)], Finished)
    assert len(list(tmp_path.glob("0-2-*.at"))) == 1


def test_the_command(features: str, tmp_path: Path, nodes: cluster.Cluster) -> None:
    asked = ["run", "--dataset", features, "--method", "NCM", "--tasks", "2", "--output", str(tmp_path / "runs")]
    found = json.loads(anacp(*asked, "--cluster", nodes.address, "--json"))
    (one,) = found["runs"]
    assert (Path(one["folder"]) / "results.json").exists()
    compared = ["compare", features, "--methods", "NCM,SLDA", "--tasks", "2", "--output", str(tmp_path / "compared")]
    assert "SLDA" in anacp(*compared, "--cluster", nodes.address)
