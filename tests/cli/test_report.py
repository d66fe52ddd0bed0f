import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anacp.cli.app import app, main
from tests.reports.folders import write_collection, write_run


@pytest.fixture
def runs(tmp_path) -> Path:
    write_collection(tmp_path / "runs", {"NCM": 80.0, "AnaCP": 90.0}, seeds=2)
    write_run(tmp_path / "runs" / "half")
    (tmp_path / "runs" / "half" / "results.json").unlink()
    return tmp_path / "runs"


def test_says_what_was_read_left_out_and_written(runs: Path, tmp_path) -> None:
    page = tmp_path / "out" / "page.html"
    arguments = ["report", str(runs), "--output", str(page), "--title", "T", "--formats", "html,md"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "4 finished runs read"
    assert lines[1].startswith(f"left out: {runs / 'half'}: unfinished")
    assert lines[2:] == [str(page), str(page.with_suffix(".md"))]
    assert "<h1>T</h1>" in page.read_text()


def test_a_folder_takes_the_page(runs: Path, tmp_path) -> None:
    result = CliRunner().invoke(app, ["report", str(runs), "--output", str(tmp_path), "--formats", "md"])
    assert result.output.splitlines()[2:] == [str(tmp_path / "report.md")]


def test_json(runs: Path, tmp_path) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["report", str(runs), "--output", str(page), "--formats", "csv", "--json"])
    facts = json.loads(result.output)
    assert len(facts["runs"]) == 4
    assert facts["left_out"][0]["folder"] == str(runs / "half")
    assert str(tmp_path / "page-results.csv") in facts["written"]
    assert not page.exists()


def test_nothing_to_report_is_one_line(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["anacp", "report", str(tmp_path)])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 2
    assert "Expected finished runs" in capsys.readouterr().err
