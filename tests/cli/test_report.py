import json
from pathlib import Path

import pytest

from tests.cli.conftest import anacp
from tests.reports.made import make, plain, write_features


@pytest.fixture
def runs(tmp_path) -> Path:
    features = write_features(tmp_path / "blobs.npz")
    root = tmp_path / "runs"
    make(root, [one for seed in range(2) for one in plain(features, seed=seed)])
    make(root, plain(features, ["NCM"], title="half"))
    (root / "blobs" / "half-seed0").rename(root / "half")
    (root / "half" / "results.json").unlink()
    return root


def test_says_what_was_read_left_out_and_written(runs: Path, tmp_path) -> None:
    page = tmp_path / "out" / "page.html"
    lines = anacp("report", runs, "--output", page, "--title", "T", "--formats", "html,md").splitlines()
    assert lines[0] == "4 finished runs read"
    assert lines[1].startswith(f"left out: {runs / 'half'}: unfinished")
    assert lines[2:] == [str(page), str(page.with_suffix(".md"))]
    assert "<h1>T</h1>" in page.read_text()


def test_a_folder_takes_the_page(runs: Path, tmp_path) -> None:
    printed = anacp("report", runs, "--output", tmp_path, "--formats", "md")
    assert printed.splitlines()[2:] == [str(tmp_path / "report.md")]


def test_json(runs: Path, tmp_path) -> None:
    page = tmp_path / "page.html"
    facts = json.loads(anacp("report", runs, "--output", page, "--formats", "csv", "--json"))
    assert len(facts["runs"]) == 4
    assert facts["left_out"][0]["folder"] == str(runs / "half")
    assert str(tmp_path / "page-results.csv") in facts["written"]
    assert not page.exists()


def test_nothing_to_report_is_said(tmp_path, error_of) -> None:
    assert "Expected finished runs" in error_of("report", tmp_path)
