"""The paper's tables from the command line, on what every installation has."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import anacp
from anacp.cli.app import app, main
from anacp.experiments import load_runs


@pytest.fixture(autouse=True)
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_DATA", str(tmp_path / "data"))


def reproduce(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_table_with_its_report_and_again_from_what_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = "SimpleCIL,SLDA"
    arguments = (
        "table1",
        "--substitute",
        "--dataset",
        "cifar100",
        "--methods",
        rows,
        "--seeds",
        "0,1",
        "--output",
        out,
    )
    printed = reproduce(*arguments)
    assert "Substitute for Table 1: DINO-v2 on CIFAR100: EfficientNet-Lite0 features" in printed
    assert re.search(r"SimpleCIL +57\.00 ± 0\.00", printed)  # the order of the classes does not change the last row
    page = (out / "report.html").read_text()
    assert "Substitute for Table 1" in page
    assert "86.20" in page  # the paper's SimpleCIL, beside ours
    assert "Substitute for Table 1" in (out / "report.md").read_text()
    assert {path.name for path in out.iterdir()} >= {"report.html", "report.md", "report.tex"}
    runs = load_runs(out)
    assert [(run.title, run.seed) for run in runs] == [("SLDA", 0), ("SLDA", 1), ("SimpleCIL", 0), ("SimpleCIL", 1)]
    assert len(anacp.load(runs[2].folder / "model.anacp").classes_) == 100  # one usable model of each row
    assert reproduce(*arguments).count("kept from before") == 4


def test_quick_ablation_as_json(tmp_path: Path) -> None:
    arguments = ("ablation", "--substitute", "--quick", "--dataset", "clinc150", "--methods", "1,3")
    facts = json.loads(reproduce(*arguments, "--output", tmp_path / "out", "--json"))
    assert facts["missing"] == []
    assert [Path(folder).name for folder in facts["runs"]] == ["1-seed0", "3-seed0"]
    assert all(Path(path).is_file() for path in facts["written"])


def test_what_is_missing_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["anacp", "reproduce", "table1", "--output", str(tmp_path / "out")])
    with pytest.raises(SystemExit):
        main()
    error = capsys.readouterr().err
    assert error.startswith("anacp: Expected the backbone and data of table1, got none of it: cifar100: ")
    assert "--substitute" in error
    assert not (tmp_path / "out").exists()
