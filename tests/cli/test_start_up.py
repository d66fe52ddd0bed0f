"""What a command imports before it works, which is most of what it costs to start."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from anacp import NCM, load_sample
from anacp.catalogue import compared_methods
from anacp.cli.app import app
from anacp.cli.compare import METHODS
from tests.backbones.models import needs_lite0, needs_minilm
from tests.cli.conftest import anacp
from tests.methods.inputs import folder, table

SLOW = ("torch", "sklearn", "scipy", "transformers", "numpy", "matplotlib", "rich", "PIL", "onnxruntime", "pandas")
RUN = f"""
import sys
from anacp.cli.app import main
try:
    main()
finally:
    print([name for name in {SLOW} if name in sys.modules], file=sys.stderr)
"""
# Imports of these fail, as where they are not installed.
WITHOUT = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "sklearn", "scipy", "transformers"):
            raise ModuleNotFoundError(f"no {name} here")
sys.meta_path.insert(0, Without())
"""


def run(*arguments: object, code: str = RUN) -> tuple[str, set[str]]:
    """Run a command in a process of its own, and return what it printed and which slow packages it imported."""
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1].replace("'", '"')))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a solved model, and what it says of a photo when torch runs the network."""
    base = tmp_path_factory.mktemp("photos")
    folder(base / "first", ["blue", "red"], range(5))
    anacp("learn", base / "first", "--model", base / "model.anacp", "--learner", "NCM")
    return base


def test_help_and_version_import_nothing() -> None:
    group = typer.main.get_command(app)
    commands = [[name, *sub] for name, one in group.commands.items() for sub in [[], *map(_listed, _inside(one))]]
    asked = [["--version"], ["--help"], *([*command, "--help"] for command in commands)]
    code = f"""
import sys
from typer.testing import CliRunner
from anacp.cli.app import app
for arguments in {asked!r}:
    assert CliRunner().invoke(app, arguments).exit_code == 0, arguments
    found = [name for name in {SLOW} if name in sys.modules]
    assert not found, (arguments, found)
print([], file=sys.stderr)
"""
    run(code=code)
    assert len(asked) > 18


def _inside(command: object) -> list[str]:
    return list(getattr(command, "commands", {}))


def _listed(name: str) -> list[str]:
    return [name]


def test_the_methods_that_help_names_are_those_compared() -> None:
    assert METHODS.split(",") == compared_methods()


@needs_lite0
def test_info_reads_a_header(photos: Path) -> None:
    printed, imported = run("info", photos / "model.anacp", "--json")
    assert json.loads(printed)["examples"] == 10
    assert imported == set()


@needs_lite0
def test_a_photo_needs_numpy_and_onnxruntime(photos: Path) -> None:
    model, photo = photos / "model.anacp", photos / "first" / "red" / "000.png"
    printed, imported = run("predict", model, photo)
    assert printed.split("\t")[1].startswith("red")
    assert imported == {"numpy", "PIL", "onnxruntime", "rich"}


@needs_lite0
def test_predictions_are_those_of_the_whole_model(photos: Path) -> None:
    model, shown = photos / "model.anacp", photos / "first"
    (photos / "bad.png").write_bytes(b"no picture")
    arguments = "predict", model, shown / "red", photos / "bad.png", shown / "blue", "--on-error", "skip", "--json"
    quick, imported = run(*arguments, code=WITHOUT + RUN)
    whole, with_torch = run(*arguments, "--backbone", "efficientnet-lite0")
    assert "torch" not in imported
    assert "torch" in with_torch
    one, two = json.loads(quick), json.loads(whole)
    assert [row["input"] for row in one] == [row["input"] for row in two]
    assert "bad.png" in one[5]["error"]
    for mine, its in zip(one[:5] + one[6:], two[:5] + two[6:], strict=True):
        assert [best["label"] for best in mine["top"]] == [best["label"] for best in its["top"]]
        for a, b in zip(mine["top"], its["top"], strict=True):
            assert a["probability"] == pytest.approx(b["probability"], abs=1e-5)


@needs_lite0
def test_what_cannot_be_read_is_refused_in_the_same_words(photos: Path) -> None:
    (photos / "bad.png").write_bytes(b"no picture")
    said = []
    for more in ([], ["--backbone", "efficientnet-lite0"]):
        command = [sys.executable, "-c", RUN, "predict", str(photos / "model.anacp"), str(photos / "bad.png"), *more]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2
        said.append(re.sub("0x[0-9a-f]+", "an address", done.stderr.splitlines()[0]))
    assert said[0] == said[1]


@needs_lite0
def test_learning_leaves_a_file_that_is_asked_at_once(photos: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.anacp"
    anacp("learn", photos / "first", "--model", model, "--learner", "Ridge", "--no-solve")
    photo = photos / "first" / "red" / "001.png"
    assert "torch" in run("predict", model, photo)[1]
    anacp("solve", model)
    assert "torch" not in run("predict", model, photo)[1]


def test_rows_of_features_need_numpy(tmp_path: Path) -> None:
    sample = load_sample("clinc150")
    NCM().partial_fit(sample.x_train, sample.y_train).solve(probabilities=True).save(tmp_path / "model.anacp")
    printed, imported = run("predict", tmp_path / "model.anacp", "sample:clinc150", code=WITHOUT + RUN)
    assert len(printed.splitlines()) == len(sample.x_test)
    assert imported == {"numpy", "rich"}


@needs_minilm
def test_a_text_needs_tokenizers(tmp_path: Path) -> None:
    model = tmp_path / "model.anacp"
    anacp("learn", table(tmp_path / "texts.csv", ["money", "weather"]), "--model", model, "--learner", "NCM")
    printed, imported = run("predict", model, "is it snowing?", "pay ten euros", code=WITHOUT + RUN)
    assert [line.split("\t")[1].split()[0] for line in printed.splitlines()] == ["weather", "money"]
    assert imported == {"numpy", "onnxruntime", "rich"}
