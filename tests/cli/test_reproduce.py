"""The paper's tables from the command line, on what every installation has."""

import json
import re
from pathlib import Path

import pytest

from anacp import load
from anacp.experiments import load_runs
from anacp.paper import Cell
from tests.cli.conftest import anacp
from tests.reports.made import write_topics


@pytest.fixture(autouse=True)
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_DATA", str(tmp_path / "data"))


def test_a_table_with_its_report_and_again_from_what_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("reproduce", "table1", "--substitute", "--dataset", "cifar100", "--methods", "SimpleCIL,SLDA")
    arguments += ("--seeds", "0,1", "--output", out)
    printed = anacp(*arguments)
    assert "Substitute for Table 1: DINO-v2 on CIFAR100: EfficientNet-Lite0 features" in printed
    assert re.search(r"SimpleCIL +57\.00 ± 0\.00", printed)  # the order of the classes does not change the last row
    page = (out / "report.html").read_text()
    assert "<h1>Table 1 with EfficientNet-Lite0 on the CIFAR-100 sample</h1>" in page
    assert "Substitute for Table 1" in page
    assert "86.20" in page  # the paper's SimpleCIL, beside ours
    assert "Substitute for Table 1" in (out / "report.md").read_text()
    assert {path.name for path in out.iterdir()} >= {"report.html", "report.md", "report.tex"}
    runs = load_runs(out)
    assert [(run.title, run.seed) for run in runs] == [("SLDA", 0), ("SLDA", 1), ("SimpleCIL", 0), ("SimpleCIL", 1)]
    assert len(load(runs[2].folder / "model.anacp").classes_) == 100  # one usable model of each row
    assert anacp(*arguments).count("kept from before") == 4


def test_without_substitute_the_page_is_headed_as_the_papers_table(tmp_path: Path) -> None:
    data, network = write_topics(tmp_path, n_classes=10)
    arguments = ("--dataset", data, "--backbone", network, "--methods", "SimpleCIL", "--seeds", 0)
    anacp("reproduce", "table1", *arguments, "--output", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    (run,) = load_runs(tmp_path / "out")
    assert run.paper == Cell("table1", "SimpleCIL")
    assert f"<h2>The paper’s Table 1, with {run.made_by['name']} on topics</h2>" in page
    assert "Substitute" not in page
    assert "DINO" not in page  # nothing of the paper's own setting, whose numbers are not beside ours


def test_quick_ablation_as_json(tmp_path: Path) -> None:
    arguments = ("reproduce", "ablation", "--substitute", "--quick", "--dataset", "clinc150", "--methods", "1,3")
    facts = json.loads(anacp(*arguments, "--output", tmp_path / "out", "--json"))
    assert facts["missing"] == []
    assert [Path(folder).name for folder in facts["runs"]] == ["1-seed0", "3-seed0"]
    assert all(Path(path).is_file() for path in facts["written"])
    text = (tmp_path / "out" / "report.md").read_text()
    assert text.startswith("# Table 3 (ablation) with MiniLM on the CLINC150 sample, quick\n")
    assert re.search(r"\| 3 \| NCM \| yes \| paper \| 3 \| 1000 \| – \| no \|", text)


def test_what_is_missing_is_one_clear_error(tmp_path: Path, error_of) -> None:
    error = error_of("reproduce", "table1", "--output", tmp_path / "out")
    assert error.startswith("anacp: Expected the backbone and data of table1, got none of it: cifar100: ")
    assert "--substitute" in error
    assert not (tmp_path / "out").exists()
