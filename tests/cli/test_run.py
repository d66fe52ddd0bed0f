import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from anacp.experiments import expand, load_runs
from tests.cli.conftest import anacp

ROOT = Path(__file__).resolve().parents[2]
# The real command, in a process of its own; each step waits, so that a signal finds it at work.
SLOW = """
import time
from anacp.catalogue import method
from anacp.learners import NCM

@method()
class Slow(NCM):
    def _solve(self, memory, before):
        if len(self.classes_) > 1:  # the second task takes longer than any busy machine needs to interrupt it
            time.sleep(60)
        return super()._solve(memory, before)
"""


def test_flags(features: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--dataset", features, "--method", "ncm,SLDA", "--seeds", "0,1", "--tasks", 3, "--output", out)
    printed = anacp("run", *arguments)
    assert re.search(r"SLDA +\d+\.\d\d ± \d+\.\d\d", printed)
    assert "[4/4]" in printed
    assert str(out / "blobs" / "NCM-seed1") in printed
    assert "Seconds, of the quickest seed, were measured on" in printed
    assert len(load_runs(out)) == 4
    assert anacp("run", *arguments).count("kept from before") == 4
    assert "kept from before" not in anacp("run", *arguments, "--fresh")


def test_parameters_and_json(features: str, tmp_path: Path) -> None:
    parameters = ("--set", "n_projected=30", "--set", "classifier=ncm", "--set", "normalize=false", "--joint")
    printed = anacp("run", "--dataset", features, "--tasks", 2, "--output", tmp_path / "out", "--json", *parameters)
    [one] = json.loads(printed)["runs"]
    assert one["specification"]["method"]["parameters"] == {
        "n_projected": 30, "classifier": "ncm", "normalize": False
    }  # fmt: skip
    assert one["joint"]
    assert one == json.loads((Path(one["folder"]) / "results.json").read_text()) | {"folder": one["folder"]}


def test_a_run_can_be_repeated_from_its_folder(features: str, tmp_path: Path) -> None:
    anacp("run", "--dataset", features, "--method", "SLDA", "--tasks", 3, "--seeds", 5, "--output", tmp_path / "out")
    [folder] = (tmp_path / "out" / "blobs").iterdir()
    anacp("run", folder / "spec.toml", "--output", tmp_path / "again")
    first, second = load_runs(tmp_path / "out"), load_runs(tmp_path / "again")
    assert first[0].specification == second[0].specification
    np.testing.assert_array_equal(first[0].class_incremental, second[0].class_incremental)


def test_the_example_of_the_page(tmp_path: Path) -> None:
    """docs/experiments.md, its file taken from the page; fewer tasks and one seed, to be quick."""
    page = (ROOT / "docs" / "experiments.md").read_text()
    text = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    assert [(one.title, one.seed) for one in expand(tomllib.loads(text))][::2] == [
        ("NCM", 0), ("AnaCP, D = 500", 0), ("joint ridge", 0)
    ]  # fmt: skip
    quick = text.replace("seeds = [0, 1]", "seeds = [0]").replace("tasks = 10", "tasks = 2")
    (tmp_path / "experiment.toml").write_text(quick)
    printed = anacp("run", tmp_path / "experiment.toml", "--output", tmp_path / "out")
    assert re.search(r"joint ridge +\d\d\.\d\d +- ", printed)
    runs = load_runs(tmp_path / "out")
    assert [one.title for one in runs] == ["AnaCP, D = 500", "NCM", "joint ridge"]
    assert runs[0].embedding is not None
    assert all(one.model for one in runs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Expected a TOML file or --dataset, got neither."),
        (["x.toml", "--tasks", "3"], "Expected a file or flags that say what to run, got both."),
        (["x.toml"], "Expected the specification of an experiment at x.toml, got no file there."),
        (["--dataset", "{features}", "--set", "ridge"], "Expected --set NAME=VALUE, got 'ridge'."),
        (["--dataset", "{features}", "--set", "rigde=1"], "[method.parameters] rigde: did you mean 'ridge'?"),
        (["--dataset", "{features}"], "Expected between 1 and 6 tasks"),
        (["--dataset", "{features}", "--tasks", "2", "--set", "ridge=-1"], "1 of 1 runs failed. AnaCP seed 0: "),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], message: str, features: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error_of
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in error_of("run", *(one.format(features=features) for one in arguments))


def test_control_c_ends_calmly(features: str, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "spec.toml").write_text(
        f"dataset = '{features}'\nmethod = {{ name = 'Slow', file = '{tmp_path}/slow.py' }}\nscenario.tasks = 6"
    )
    # A shell's background jobs ignore Ctrl-C, and so would this process if the tests run in one.
    command = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); from anacp.cli.app import main; main()"
    steps = tmp_path / "out" / "blobs" / "Slow-seed0" / "steps.jsonl"
    arguments = ["run", str(tmp_path / "spec.toml"), "--output", str(tmp_path / "out")]
    process = subprocess.Popen([sys.executable, "-c", command, *arguments], stdout=-1, stderr=-1, text=True)
    try:
        while not (steps.exists() and steps.read_text().count("\n")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors == "anacp: stopped. What is finished is kept: run the same command to resume.\n"
    assert len(steps.read_text().splitlines()) < 6
