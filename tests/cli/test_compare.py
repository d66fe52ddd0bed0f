import csv
import json
import re
from pathlib import Path

import matplotlib.image
import pytest

from tests.cli.conftest import anacp

ROOT = Path(__file__).resolve().parents[2]


def test_table_figure_and_files(features: str, tmp_path) -> None:
    folder = tmp_path / "out"
    arguments = ("compare", features, "--methods", "NCM,slda", "--seeds", "0,1", "--tasks", 3, "--output", folder)
    printed = anacp(*arguments)
    assert re.search(r"SLDA +\d+\.\d\d ± \d+\.\d\d", printed)
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


def test_a_finished_run_is_kept(features: str, tmp_path) -> None:
    arguments = ("compare", features, "--methods", "NCM,SLDA", "--tasks", 3, "--output", tmp_path / "out")
    anacp(*arguments)
    before = json.loads((tmp_path / "out" / "results.json").read_text())
    (tmp_path / "out" / "runs" / "blobs" / "SLDA-seed0" / "results.json").unlink()
    printed = anacp(*arguments, "--json")
    assert json.loads(printed)["rows"][0] == before["rows"][0]  # its seconds included: it did not run again
    assert "kept from before" in anacp(*arguments)
    again = anacp("compare", features, "--methods", "NCM", "--tasks", 2, "--output", tmp_path / "out")
    assert "kept from before" not in again  # another scenario


@pytest.mark.usefixtures("own_registry")
def test_a_method_of_ones_own(features: str, tmp_path) -> None:
    """The worked example of CONTRIBUTING.md, taken from the page, compared from the command line."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (tmp_path / "nearest_mean.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    methods = f"NCM,{tmp_path}/nearest_mean.py"
    printed = anacp("compare", features, "--methods", methods, "--output", tmp_path / "out", "--tasks", 2)
    assert re.search(r"NearestMean +\d", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "AnaCPP"], "Unknown method 'AnaCPP'. Did you mean 'AnaCP'?"),
        (["--methods", "KLDA-EE"], "Did you mean 'KLDA-E'?"),
        (["--methods", "mine.py"], "Expected a Python file with a method, got none at "),
        (["--seeds", "0;1"], "Expected whole numbers separated by commas, such as 0,1,2, got '0;1'."),
        (["--tasks", "99"], "Expected between 1 and 6 tasks"),
    ],
)
def test_errors_are_one_line(features: str, arguments: list[str], message: str, error_of, tmp_path) -> None:
    assert message in error_of("compare", features, "--output", tmp_path / "out", *arguments)
