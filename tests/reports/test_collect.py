"""Which runs belong together: by what they state, never by their titles."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from anacp.errors import MissingDataError
from anacp.experiments import ScenarioSettings, Specification
from anacp.paper import Cell
from anacp.reports import collect
from anacp.reports.provenance import backbones_table, datasets_table, environments, leakage
from anacp.reports.settings import what_was_run
from tests.reports.made import FOUR, SUBSTITUTE, change, make, of_table1, plain, write_features, write_topics


def test_seeds_become_series(table1: Path) -> None:
    collection = collect([table1, table1 / "blobs"])  # a run met twice counts once
    (comparison,) = collection.comparisons
    assert len(collection.runs) == 18
    assert {title: [run.seed for run in series.runs] for (title, _), series in comparison.series.items()} == {
        title: [0, 1, 2] for title in comparison.titles
    }


def test_other_protocols_are_not_averaged(features: str, tmp_path: Path) -> None:
    for n_tasks in (2, 4):
        make(tmp_path / str(n_tasks), plain(features, ["NCM"], scenario=ScenarioSettings(tasks=n_tasks)))
    (comparison,) = collect([tmp_path]).comparisons
    assert [setting.label for setting in comparison.settings] == ["blobs (2 tasks)", "blobs (4 tasks)"]


def test_other_parameters_are_not_averaged(features: str, tmp_path: Path) -> None:
    for seed, ridge in enumerate([1.0, 100.0]):
        make(tmp_path / str(seed), plain(features, ["ELM"], parameters={"n_projected": 50, "ridge": ridge}, seed=seed))
    (comparison,) = collect([tmp_path]).comparisons
    assert set(comparison.titles) == {"ELM (ridge 1.0)", "ELM (ridge 100.0)"}


def test_other_rows_of_one_title_are_told_apart(features: str, tmp_path: Path) -> None:
    other = write_features(tmp_path / "other.npz", seed=1)
    for data, row in ((features, "SimpleCIL"), (other, "SLDA")):
        make(tmp_path / "runs", plain(data, ["NCM"], title="mine", paper=Cell("table1", row)))
    (comparison,) = collect([tmp_path]).comparisons
    assert comparison.titles == ("mine (row SimpleCIL)", "mine (row SLDA)")
    make(tmp_path / "joint", plain(features, ["NCM"], title="mine", paper=Cell("table1", "SimpleCIL"), joint=True))
    assert "mine (joint, row SimpleCIL)" in collect([tmp_path]).looks


def test_quick_runs_stand_apart_and_say_so(features: str, tmp_path: Path) -> None:
    make(tmp_path / "a", plain(features, ["NCM"]))
    make(tmp_path / "b", plain(features, ["NCM"], quick=True))
    (comparison,) = collect([tmp_path]).comparisons
    assert [setting.label for setting in comparison.settings] == ["blobs", "blobs (quick)"]
    assert what_was_run(comparison.settings) == "on blobs, quick"


def test_class_orders_are_averaged_too(features: str, tmp_path: Path) -> None:
    make(tmp_path, [one for order in range(3) for one in plain(features, ["NCM"], order_seed=order)])
    (comparison,) = collect([tmp_path]).comparisons
    assert [len(series.runs) for series in comparison.series.values()] == [3]


def test_a_run_belongs_where_it_says_and_nowhere_else(features: str, tmp_path: Path) -> None:
    words = {"for": "Table 1: DINO-v2 on CIFAR100", "note": "Table 2"}
    make(tmp_path / "plain", [
        Specification(features, "NCM", title=title, scenario=FOUR, substitute=words) for title in ("3", "AnaCP")
    ])  # fmt: skip
    for table, row in (("table2", "SimpleCIL"), ("ablation", "1"), ("efficiency", "SLDA")):
        stated = Specification(features, "NCM", title="mine", scenario=FOUR, paper=Cell(table, row))
        make(tmp_path / table, [stated])
    found = {each.paper.name if each.paper else None: each for each in collect([tmp_path]).comparisons}
    assert list(found) == ["table2", "efficiency", None, "ablation"]
    assert found[None].titles == ("3", "AnaCP")
    assert not any(series.proposed for series in found[None].series.values())  # of the method NCM
    assert {name: each.any_of("mine").row for name, each in found.items() if name} == {
        "table2": "SimpleCIL", "efficiency": "SLDA", "ablation": "1",
    }  # fmt: skip


def test_a_repeated_run_is_left_out(features: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        make(tmp_path / name, plain(features, ["NCM"]))
    collection = collect([tmp_path])
    assert [run.folder.parts[-3] for run in collection.runs] == ["a"]
    assert "give one of them another title" in collection.left_out[0].reason


def test_what_is_left_out_says_why(features: str, tmp_path: Path) -> None:
    make(tmp_path, plain(features, ["NCM"]))
    whole = tmp_path / "blobs" / "NCM-seed0"
    for name in ("unfinished", "newer", "damaged", "foreign", "unknown"):
        shutil.copytree(whole, tmp_path / name)
    (tmp_path / "unfinished" / "results.json").unlink()
    change(tmp_path / "newer", format_version=99)
    change(tmp_path / "unknown", paper={"table": "table9", "row": "AnaCP"})
    (tmp_path / "damaged" / "results.json").write_text('{"format": ')
    (tmp_path / "foreign" / "results.json").write_text('{"rows": []}')
    collection = collect([tmp_path])
    reasons = {entry.folder.name: entry.reason for entry in collection.left_out}
    assert set(reasons) == {"unfinished", "newer", "damaged", "unknown"}
    assert "unfinished, 4 tasks done" in reasons["unfinished"]
    assert "Upgrade" in reasons["newer"]
    assert "damaged" in reasons["damaged"]
    assert "table9" in reasons["unknown"]
    assert len(collection.runs) == 1


def test_no_runs_at_all(features: str, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"Expected finished runs .* got none.*anacp run"):
        collect([tmp_path])
    make(tmp_path, plain(features, ["NCM"]))
    (tmp_path / "blobs" / "NCM-seed0" / "results.json").unlink()
    with pytest.raises(MissingDataError, match="unfinished"):
        collect([tmp_path])
    with pytest.raises(MissingDataError, match="nothing there"):
        collect([tmp_path / "nowhere"])


def test_rows_follow_the_paper(features: str, table1: Path, tmp_path: Path) -> None:
    (comparison,) = collect([table1]).comparisons
    assert comparison.titles == ("Joint linear probe", "SimpleCIL", "SLDA", "RanPAC", "AnaCP - Σ_y", "AnaCP")
    small = {"n_projected": 50}
    runs = plain(features, ["SLDA", "NCM"]) + plain(features, ["AnaCP"], parameters=small)
    make(tmp_path, [*runs, *plain(features, ["Ridge"], joint=True, title="Z, all at once")])
    (comparison,) = collect([tmp_path]).comparisons
    assert comparison.titles == ("Z, all at once", "NCM", "SLDA", "AnaCP")


def test_rows_are_drawn_as_the_papers_unless_that_is_there_itself(features: str, tmp_path: Path) -> None:
    make(tmp_path, of_table1(features, ["SimpleCIL"], seeds=1))
    (again,) = of_table1(features, ["SimpleCIL"], seeds=1)
    tuned = Specification(features, "NCM", title="tuned", scenario=again.scenario, paper=again.paper,
                          substitute=SUBSTITUTE)  # fmt: skip
    alone = tmp_path / "alone"
    make(alone, [tuned])
    assert collect([alone]).looks == {"tuned": "SimpleCIL"}
    assert collect([tmp_path]).looks == {"SimpleCIL": "SimpleCIL", "tuned": "tuned"}


def test_times_are_those_of_the_quickest_run(table1: Path) -> None:
    (comparison,) = collect([table1]).comparisons
    series = comparison.any_of("RanPAC")
    sums = [sum(run.seconds.values()) for run in series.runs]
    quickest = series.runs[int(np.argmin(sums))]
    assert series.seconds("learn", "solve") == quickest.seconds["learn"] + quickest.seconds["solve"]


def test_the_backbone_of_a_sample_is_listed_and_heads_the_page(tmp_path: Path) -> None:
    make(tmp_path, plain("sample:clinc150", ["NCM"]))
    collection = collect([tmp_path])
    (row,) = backbones_table(collection).rows
    assert [cell.text for cell in row.cells][:2] == ["minilm-l6", "sample:clinc150"]
    assert "may be in the pretraining data" in row.cells[-1].text
    assert what_was_run(collection.settings) == "with MiniLM on the CLINC150 sample"


def test_adaptation_is_named_where_it_differs(tmp_path: Path) -> None:
    data, network = write_topics(tmp_path, n_classes=4)
    two = {"backbone": network, "scenario": ScenarioSettings(tasks=2), "keep_model": False}
    make(tmp_path / "frozen", plain(data, ["NCM"], **two))
    for seed in range(2):
        make(tmp_path / f"adapted{seed}", plain(data, ["NCM"], adaptation="mocov3", seed=seed, **two))
    collection = collect([tmp_path])
    assert set(collection.looks) == {"NCM", "NCM + mocov3"}
    ((_, _, weights, *_),) = [[cell.text for cell in row.cells] for row in backbones_table(collection).rows]
    frozen = next(run for run in collection.runs if not run.adaptation)
    assert frozen.backbone is not None
    assert weights == f"{frozen.backbone['fingerprint']}, 2 adapted"
    (listed,) = datasets_table(collection).rows
    assert listed.cells[-1].text == frozen.dataset["fingerprint"]
    assert len(environments(collection)) == 1  # fingerprints are told elsewhere


@pytest.mark.parametrize(
    ("pretrained_on", "dataset", "said"),
    [
        (None, "cub-200-2011", "unknown"),
        ("ImageNet-1k with labels", "tiny-imagenet", "not new"),
        ("ImageNet-1k with labels", "clinc150", "also occur there"),
        ("ImageNet-1k without labels", "imagenet-r", "met examples of these classes, without"),
        ("LVD-142M without labels: images like CUB-200 and Stanford Cars", "cub-200-2011", "met examples"),
        ("1 billion English sentence pairs without class labels", "clinc150", "may be in"),
    ],
)
def test_leakage(pretrained_on: str | None, dataset: str, said: str) -> None:
    assert said in leakage(pretrained_on, dataset)
