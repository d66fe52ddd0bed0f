import json

import pytest

from anacp.errors import MissingDataError
from anacp.reports.collect import collect
from anacp.reports.provenance import backbones, datasets, environments, leakage
from tests.reports.folders import BACKBONE, write_collection, write_json, write_run


def test_seeds_become_series(tmp_path) -> None:
    write_collection(tmp_path / "deep" / "down", {"NCM": 80.0, "AnaCP": 90.0})
    collection = collect([tmp_path, tmp_path / "deep"])  # a run met twice counts once
    (comparison,) = collection.comparisons
    assert len(collection.runs) == 6
    assert {title: [run.seed for run in series.runs] for (title, _), series in comparison.series.items()} == {
        "NCM": [0, 1, 2],
        "AnaCP": [0, 1, 2],
    }


def test_other_protocols_are_not_averaged(tmp_path) -> None:
    for n_tasks in (2, 4):
        write_run(tmp_path / f"{n_tasks}", n_tasks=n_tasks)
    (comparison,) = collect([tmp_path]).comparisons
    labels = [setting.label for setting in comparison.settings]
    assert labels == ["minilm-l6 on clinc150 (2 tasks)", "minilm-l6 on clinc150 (4 tasks)"]


def test_adaptation_is_named_where_it_differs(tmp_path) -> None:
    write_run(tmp_path / "a", adaptation=None)
    write_run(tmp_path / "b", adaptation="minilm")
    assert set(collect([tmp_path]).titles) == {"AnaCP", "AnaCP + minilm"}


def test_class_orders_are_averaged_too(tmp_path) -> None:
    protocol = {"scenario": "class-incremental", "n_tasks": 4, "order": "paper"}
    for order in range(3):
        own = {"seed": order, "order_seed": order, "class_order": list("abcd")[order:]}
        write_run(tmp_path / str(order), protocol=protocol | own)
    (comparison,) = collect([tmp_path]).comparisons
    assert [len(series.runs) for series in comparison.series.values()] == [3]


def test_which_table(tmp_path) -> None:
    for title, stands_for in (
        ("AnaCP", "Table 1"),
        ("NCM", "Table 2: MoCo-v3"),
        ("13", "Table 3"),
        ("without FSA", "-"),
        ("x", "-"),
    ):
        write_run(tmp_path / title, title, substitute={"for": stands_for})
    found = {each.table: each.titles for each in collect([tmp_path]).comparisons}
    assert found == {"table1": ("AnaCP",), "table2": ("NCM",), None: ("x",), "ablation": ("13", "without FSA")}


def test_a_repeated_run_is_left_out(tmp_path) -> None:
    write_run(tmp_path / "a", A_last=90)
    write_run(tmp_path / "b", A_last=70)
    collection = collect([tmp_path])
    assert [run.folder.name for run in collection.runs] == ["a"]
    assert "give one of them another title" in collection.left_out[0].reason


def test_what_is_left_out_says_why(tmp_path) -> None:
    write_run(tmp_path / "whole")
    write_run(tmp_path / "unfinished")
    (tmp_path / "unfinished" / "results.json").unlink()
    write_json(tmp_path / "foreign" / "results.json", {"rows": []})
    write_run(tmp_path / "newer", format_version=99)
    write_run(tmp_path / "damaged")
    (tmp_path / "damaged" / "results.json").write_text('{"format": ')
    collection = collect([tmp_path])
    reasons = {entry.folder.name: entry.reason for entry in collection.left_out}
    assert set(reasons) == {"unfinished", "newer", "damaged"}
    assert "unfinished, 0 tasks done" in reasons["unfinished"]
    assert "Upgrade" in reasons["newer"]
    assert "damaged" in reasons["damaged"]
    assert len(collection.runs) == 1


def test_no_runs_at_all(tmp_path) -> None:
    with pytest.raises(MissingDataError, match=r"Expected finished runs .* got none.*anacp run"):
        collect([tmp_path])
    write_run(tmp_path / "half")
    (tmp_path / "half" / "results.json").unlink()
    with pytest.raises(MissingDataError, match="unfinished"):
        collect([tmp_path])
    with pytest.raises(MissingDataError, match="not a folder"):
        collect([tmp_path / "nowhere"])


def test_rows_follow_the_paper(tmp_path) -> None:
    write_collection(tmp_path, {"mine": 80.0, "AnaCP": 90.0, "RanPAC": 85.0, "SLDA": 70.0, "Joint fine-tuning": 95.0})
    assert collect([tmp_path]).titles == ("Joint fine-tuning", "SLDA", "RanPAC", "mine", "AnaCP")


def test_the_row_key_names_the_papers_row(tmp_path) -> None:
    write_run(tmp_path, title="ours, tuned", specification={"row": "AnaCP"})
    (comparison,) = collect([tmp_path]).comparisons
    (series,) = comparison.series.values()
    assert series.paper_row == "AnaCP"


def test_times_are_those_of_the_quickest_run(tmp_path) -> None:
    for seed, learn in enumerate([30.0, 10.0, 20.0]):
        stages = {"adapt": 1.0, "features": 5.0 - seed, "learn": learn, "solve": 0.5, "predict": 0.2}
        write_run(tmp_path / str(seed), seed=seed, seconds=stages)
    (comparison,) = collect([tmp_path]).comparisons
    (series,) = comparison.series.values()
    assert series.seconds("features", "learn") == 14.0


def test_the_backbone_of_a_sample_is_listed(tmp_path) -> None:
    write_run(tmp_path, backbone=None, dataset={"name": "sample:clinc150", "backbone": BACKBONE})
    (row,) = backbones(collect([tmp_path])).rows
    assert [cell.text for cell in row.cells][:2] == ["minilm-l6", "sample:clinc150"]
    assert "may be in the pretraining data" in row.cells[-1].text


def test_what_adaptation_changed_is_counted_and_data_are_listed_once(tmp_path) -> None:
    dataset = {"name": "clinc150", "n_classes": 8, "fingerprint": "d"}
    write_run(tmp_path / "frozen", title="NCM", dataset=dataset)
    for seed in range(2):
        adapted = BACKBONE | {"fingerprint": f"adapted {seed}"}
        changes = {"backbone": adapted, "adaptation": "minilm", "dataset": dataset | {"backbone": None}}
        folder = write_run(tmp_path / f"adapted{seed}", seed=seed, **changes)
        write_json(folder / "environment.json", {"python": "3.11.2", "backbone": f"adapted {seed}", "dataset": "d"})
    collection = collect([tmp_path])
    (weights,) = [row.cells[2].text for row in backbones(collection).rows]
    assert weights == f"{BACKBONE['fingerprint']}, 2 adapted"
    (data,) = datasets(collection).rows
    assert data.cells[-1].text == "d"
    assert environments(collection)[0].lines == ("python: 3.11.2",)
    assert len(environments(collection)) == 2


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


def test_the_papers_numbers_are_those_of_its_tables(shared) -> None:
    from anacp.reports.paper import _numbers

    stated = json.loads((shared / "paper" / "results.json").read_text())
    for table in ("dinov2", "mocov3"):
        assert _numbers()["tables"][table]["rows"] == stated[table]
    assert _numbers()["ablation"]["rows"] == stated["ablation_dinov2"]
