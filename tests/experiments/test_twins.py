"""Runs that differ in nothing but their names are computed once."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anacp.experiments import Finished, ScenarioSettings, Specification, Status, load_runs, sweep
from anacp.experiments.results import MODEL, RESULTS
from anacp.paper import Cell
from tests.reports.made import write_features

THREE = ScenarioSettings(tasks=3)


def reused(statuses: list[Status]) -> dict[str, bool]:
    events = [status.event for status in statuses if isinstance(status.event, Finished)]
    return {event.specification.title: event.reused for event in events}


@pytest.fixture
def run(features: str) -> Specification:
    return Specification(features, "SLDA", scenario=THREE, keep_model=False)


@pytest.mark.parametrize("jobs", [1, 2])
def test_computed_once_and_told_under_every_name(run: Specification, tmp_path: Path, jobs: int) -> None:
    row = replace(run, title="row", keep_model=True, paper=Cell("table1", "SLDA", None), quick=True)
    other = replace(run, title="other", parameters={"shrinkage": 0.5})
    statuses = list(sweep([run, row, other], tmp_path / "runs", jobs=jobs))
    assert reused(statuses) == {"row": False, "other": False, "SLDA": True}  # the one that leaves a model comes first
    assert statuses[-1].share == pytest.approx(1.0)
    found = {result.title: result for result in load_runs(tmp_path / "runs")}
    np.testing.assert_array_equal(found["row"].class_incremental, found["SLDA"].class_incremental)
    assert found["row"].steps == found["SLDA"].steps
    assert found["row"].paper == row.paper
    assert found["row"].quick
    assert found["SLDA"].paper is None
    assert not found["SLDA"].quick
    assert found["SLDA"].specification == run.as_dict()
    assert [found[title].model is None for title in ("row", "SLDA", "other")] == [False, True, True]
    assert all(reused(list(sweep([run, row, other], tmp_path / "runs"))).values())


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"order_seed": 1}, {"joint": True}, {"scenario": ScenarioSettings(tasks=2)}]
)
def test_whatever_decides_a_number_is_computed(run: Specification, tmp_path: Path, change: dict[str, object]) -> None:
    list(sweep([run], tmp_path / "runs", jobs=1))
    other = replace(run, title="other", **change)
    assert reused(list(sweep([run, other], tmp_path / "runs", jobs=1))) == {"SLDA": True, "other": False}


def test_runs_of_another_folder_serve(run: Specification, tmp_path: Path) -> None:
    list(sweep([run], tmp_path / "before", jobs=1))
    row = replace(run, title="row")
    assert reused(list(sweep([row], tmp_path / "after", jobs=1, reuse=tmp_path / "before"))) == {"row": True}
    [told] = load_runs(tmp_path / "after")
    assert told.title == "row"


def test_a_twin_without_the_model_that_is_wanted_does_not_serve(run: Specification, tmp_path: Path) -> None:
    list(sweep([run], tmp_path / "runs", jobs=1))
    keeping = replace(run, title="keeping", keep_model=True)
    assert not reused(list(sweep([run, keeping], tmp_path / "runs", jobs=1)))["keeping"]
    assert (tmp_path / "runs" / keeping.folder / MODEL).exists()


def test_data_of_the_same_name_with_other_contents_do_not_serve(run: Specification, tmp_path: Path) -> None:
    list(sweep([run], tmp_path / "before", jobs=1))
    write_features(Path(run.dataset), n_classes=6, seed=7)
    row = replace(run, title="row")
    assert reused(list(sweep([row], tmp_path / "after", jobs=1, reuse=tmp_path / "before"))) == {"row": False}


def test_a_twin_that_failed_leaves_the_other_to_run(run: Specification, tmp_path: Path) -> None:
    bad = replace(run, parameters={"shrinkage": -1.0})
    statuses = list(sweep([bad, replace(bad, title="again")], tmp_path / "runs", jobs=1))
    assert not any(isinstance(status.event, Finished) for status in statuses)
    assert not list((tmp_path / "runs").rglob(RESULTS))
