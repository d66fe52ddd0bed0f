import csv
import json
import re
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from typer.testing import CliRunner

from anacp.cli.app import app, main
from anacp.learners import LEARNERS, PRESETS, method
from tests.conftest import blobs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def features(tmp_path) -> Path:
    x, y = blobs(n_classes=6, n_rows=30)
    path = tmp_path / "blobs.npz"
    np.savez(path, xtr=x[:120], ytr=y[:120], xte=x[120:], yte=y[120:])
    return path


def compare(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def test_table_figure_and_files(features: Path, tmp_path) -> None:
    folder = tmp_path / "out"
    arguments = (features, "--methods", "NCM,slda", "--seeds", "0,1", "--tasks", 3, "--output", folder)
    printed = compare(*arguments)
    assert re.search(r"SLDA +\d+\.\d\d ± \d+\.\d\d", printed)
    assert "\x1b" not in printed
    results = json.loads((folder / "results.json").read_text())
    assert [row["method"] for row in results["rows"]] == ["NCM", "SLDA"]
    assert results["n_classes"] == [2, 4, 6]
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["a_last"]) == results["rows"][0]["a_last"]
    assert min(matplotlib.image.imread(folder / "accuracy_curves.png").shape[:2]) > 300
    run = json.loads((folder / "runs" / "blobs" / "NCM-seed1" / "results.json").read_text())
    assert run["protocol"]["seed"] == 1
    assert run["specification"]["seed"] == run["specification"]["order_seed"] == 1


def test_a_finished_run_is_kept(features: Path, tmp_path) -> None:
    arguments = (features, "--methods", "NCM,SLDA", "--tasks", 3, "--output", tmp_path / "out")
    compare(*arguments)
    before = json.loads((tmp_path / "out" / "results.json").read_text())
    (tmp_path / "out" / "runs" / "blobs" / "SLDA-seed0" / "results.json").unlink()
    printed = compare(*arguments, "--json")
    assert json.loads(printed)["rows"][0] == before["rows"][0]  # its seconds included: it did not run again
    assert "kept from before" in compare(*arguments)
    again = compare(features, "--methods", "NCM", "--tasks", 2, "--output", tmp_path / "out")
    assert "kept from before" not in again  # another scenario


@pytest.mark.usefixtures("own_registry")
def test_a_method_of_ones_own(features: Path, tmp_path) -> None:
    """The worked example of CONTRIBUTING.md, taken from the page, compared from the command line."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (tmp_path / "nearest_mean.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    methods = f"NCM,{tmp_path}/nearest_mean.py"
    printed = compare(features, "--methods", methods, "--output", tmp_path / "out", "--tasks", 2)
    assert re.search(r"NearestMean +\d", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "AnaCPP"], "Unknown method 'AnaCPP'. Did you mean 'AnaCP'?"),
        (["--methods", "KLDA_E"], "Did you mean 'KLDA-E'?"),
        (["--methods", "mine.py"], "Expected a Python file with a learner, got none at mine.py."),
        (["--seeds", "0;1"], "Expected whole numbers separated by commas, such as 0,1,2, got '0;1'."),
        (["--tasks", "99"], "Expected between 1 and 6 tasks"),
    ],
)
def test_errors_are_one_line(
    features: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path,
) -> None:
    monkeypatch.setattr("sys.argv", ["anacp", "compare", str(features), "--output", str(tmp_path / "out"), *arguments])
    with pytest.raises(SystemExit):
        main()
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_texts_are_no_features(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts.csv").write_text("text,label\n" + "\n".join(f"word {i},{i % 2}" for i in range(20)))
    monkeypatch.setattr("sys.argv", ["anacp", "compare", str(tmp_path / "texts.csv")])
    with pytest.raises(SystemExit):
        main()
    assert "Expected features, got texts" in capsys.readouterr().err


def test_every_preset_is_a_method() -> None:
    for name in (*LEARNERS, *PRESETS):
        assert method(name.lower(), random_state=3).random_state == 3
