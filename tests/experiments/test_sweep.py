"""Many runs: side by side, reused, and none stops another."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from anacp.errors import BusyError, MismatchError, ParameterError
from anacp.experiments import (
    Failed,
    Finished,
    ScenarioSettings,
    Specification,
    Status,
    Stepped,
    load_runs,
    machine,
    sweep,
)
from anacp.experiments.machine import default_jobs, expected_bytes
from anacp.experiments.material import Materials
from anacp.experiments.run_folder import RunFolder
from anacp.experiments.sweeping import Clock

THREE = ScenarioSettings(tasks=3)

# Learners that a process of its own must find by their file; the second takes the process with it.
OWN = """
import os, signal
from anacp.catalogue import method
from anacp.learners import NCM

@method()
class Plain(NCM):
    pass

@method()
class Deadly(NCM):
    def _solve(self, memory, before):
        os.kill(os.getpid(), signal.SIGKILL)
"""

# Works for a minute, once it has said so.
SLOW = """
import pathlib, time
from anacp.catalogue import method
from anacp.learners import NCM

@method()
class Slow(NCM):
    def _solve(self, memory, before):
        folder = pathlib.Path(__file__).parent / "runs" / "blobs" / f"Slow-seed{self.random_state}"
        (folder / "started").touch()
        time.sleep(60)
        return super()._solve(memory, before)
"""


def finished(statuses: list[Status]) -> dict[str, Finished]:
    return {str(s.event.specification.folder): s.event for s in statuses if isinstance(s.event, Finished)}


@pytest.mark.usefixtures("own_registry")
def test_side_by_side_as_one_after_another(features: str, tmp_path: Path) -> None:
    """Two processes give the numbers of one; one that is killed is named, and the others go on."""
    (tmp_path / "own.py").write_text(OWN)
    own = str(tmp_path / "own.py")
    runs = [Specification(features, name, seed=seed, scenario=THREE) for name in ("NCM", "SLDA") for seed in (0, 1)]
    deadly = [Specification(features, name, file=own, scenario=THREE) for name in ("Deadly", "Plain")]
    alone = finished(list(sweep(runs, tmp_path / "alone", jobs=1)))
    statuses = list(sweep([*deadly, *runs], tmp_path / "beside", jobs=2))
    beside = finished(statuses)
    [failed] = [status.event for status in statuses if isinstance(status.event, Failed)]
    assert failed.specification.method == "Deadly"
    assert f"signal {int(signal.SIGKILL)}" in failed.error
    assert len(beside) == 5
    assert statuses[-1].share == pytest.approx(1.0)
    for name, event in alone.items():
        np.testing.assert_array_equal(event.result.class_incremental, beside[name].result.class_incremental)
        assert beside[name].result.environment["jobs"] == 2
        assert beside[name].result.environment["threads"] == max(1, len(os.sched_getaffinity(0)) // 2)
    assert len(load_runs(tmp_path / "beside")) == 5


def test_finished_runs_are_read_in_no_time(features: str, tmp_path: Path) -> None:
    runs = [Specification(features, "NCM", seed=seed, scenario=THREE) for seed in range(10)]
    list(sweep(runs, tmp_path / "runs", jobs=1))
    start = perf_counter()
    again = list(sweep(runs, tmp_path / "runs"))
    assert (perf_counter() - start) / 10 < 0.1
    assert [type(status.event) for status in again] == [Finished] * 10
    assert all(status.event.reused for status in again)
    assert again[-1].share == pytest.approx(1.0)


def test_a_run_that_fails_is_reported_and_the_others_go_on(features: str, tmp_path: Path) -> None:
    runs = [
        Specification(features, "AnaCP", {"n_projected": -1}, scenario=THREE),
        Specification(features, "NCM", scenario=THREE),
    ]
    events = [status.event for status in sweep(runs, tmp_path / "runs", jobs=1)]
    assert isinstance(events[0], Failed)
    assert "n_projected" in events[0].error
    assert isinstance(events[-1], Finished)


def test_nothing_runs_before_all_is_checked(features: str, tmp_path: Path) -> None:
    good = Specification(features, "NCM", scenario=THREE)
    with pytest.raises(ParameterError, match="between 1 and 6 tasks"):
        list(sweep([good, Specification(features, "SLDA", scenario=ScenarioSettings(tasks=9))], tmp_path / "runs"))
    with pytest.raises(ParameterError, match="Give one of them another `title`"):
        list(sweep([good, good], tmp_path / "runs"))
    with pytest.raises(ParameterError, match="at least 1 job"):
        list(sweep([good], tmp_path / "runs", jobs=0))
    assert not (tmp_path / "runs").exists()
    list(sweep([good], tmp_path / "runs"))
    changed = Specification(features, "NCM", joint=True, scenario=THREE)
    with pytest.raises(MismatchError, match="joint is False there and True here"):
        list(sweep([Specification(features, "SLDA", scenario=THREE), changed], tmp_path / "runs"))
    assert not (tmp_path / "runs" / "blobs" / "SLDA-seed0").exists()
    assert isinstance(list(sweep([changed], tmp_path / "runs", restart_changed=True))[-1].event, Finished)


def test_time_left_weighs_methods_by_what_they_took(features: str, tmp_path: Path) -> None:
    runs = [Specification(features, name, seed=seed, scenario=THREE) for name in ("NCM", "SLDA") for seed in (0, 1)]
    results = {key: event.result for key, event in finished(list(sweep(runs, tmp_path / "runs"))).items()}
    for run, seconds in zip(runs, (1.0, 1.0, 9.0, 9.0), strict=True):
        object.__setattr__(results[str(run.folder)], "seconds", {"learn": seconds, "solve": 0.0, "predict": 0.0})
    clock = Clock(zip(runs, (1, 1, 2, 2), strict=True))
    assert clock.seconds_left is None
    clock.tell(Stepped(runs[0], results[str(runs[0].folder)].steps[0], 3))
    assert clock.share == pytest.approx(1 / 18)  # nothing is known yet: the larger weighs more
    clock.tell(Finished(runs[0], results[str(runs[0].folder)], reused=False))
    assert clock.share == pytest.approx(1 / 6)  # SLDA is taken to need twice as long as NCM did
    clock.tell(Finished(runs[2], results[str(runs[2].folder)], reused=False))
    assert clock.share == pytest.approx(10 / 20)
    assert clock.seconds_left is not None
    clock.tell(Failed(runs[1], "no"))
    clock.tell(Finished(runs[3], results[str(runs[3].folder)], reused=False))
    assert clock.share == pytest.approx(1.0)
    assert clock.seconds_left == pytest.approx(0.0)


def test_jobs_by_default(features: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def jobs_for(runs: list[Specification]) -> int:
        return default_jobs(runs, [expected_bytes(run, Materials()) for run in runs])

    monkeypatch.setattr(machine, "cores", lambda: 3)
    monkeypatch.setattr(machine, "_available", lambda: 10**12)
    small = [Specification(features, "NCM", seed=seed) for seed in range(4)]
    assert jobs_for(small) == 1  # sooner done than started
    large = [Specification("sample:clinc150", "RanPAC", seed=seed) for seed in range(4)]
    assert (jobs_for(large), jobs_for(large[:2])) == (3, 2)  # as many as there are cores, and as there are runs
    trained = [Specification("clinc150", "L2P", backbone="minilm-l6", device=device) for device in ("cuda", "cpu")]
    assert jobs_for(trained) == 1  # an accelerator is not shared
    monkeypatch.setattr(machine, "_available", lambda: 10**9)
    assert jobs_for(large) == 1  # no memory for more


def test_workers_end_with_a_parent_that_is_killed(features: str, tmp_path: Path) -> None:
    """Their locks go with them, so that the same command can resume at once."""
    (tmp_path / "own.py").write_text(SLOW)
    code = (
        "from anacp.experiments import ScenarioSettings, Specification, sweep\n"
        f"runs = [Specification({features!r}, 'Slow', file={str(tmp_path / 'own.py')!r}, seed=seed, "
        "scenario=ScenarioSettings(tasks=3)) for seed in (0, 1)]\n"
        f"for status in sweep(runs, {str(tmp_path / 'runs')!r}, jobs=2): pass"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    folder = tmp_path / "runs" / "blobs" / "Slow-seed0"
    try:
        while not (folder / "started").exists():
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    for _ in range(200):
        try:
            with RunFolder(folder).locked():
                return
        except BusyError:
            time.sleep(0.05)
    pytest.fail("a worker outlived its parent by ten seconds")
