"""Every example runs and prints what it is there to show."""

import ast
import json
import runpy
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.backbones.models import needs_lite0, needs_minilm

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_all_are_here() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == [
        "01_new_classes.py",
        "02_texts.py",
        "03_experiment.py",
        "04_flowers.py",
    ]


def test_new_classes(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("01_new_classes.py", capsys)
    assert [line.split()[1] for line in printed] == ["11", "65", "150"]
    assert all(float(line.split()[3]) > 90 for line in printed)


@needs_minilm
def test_texts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("02_texts.py", capsys) == ["delivery", "damage", "['delivery', 'refund']", "refund"]


def test_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    *scores, page = run("03_experiment.py", capsys)
    assert [line.split(":")[0] for line in scores] == [
        f"{name} seed {seed}" for name in ("AnaCP", "NCM", "SLDA") for seed in (0, 1)
    ]
    assert all(float(line.split()[-2]) > 90 for line in scores)
    assert "AnaCP" in Path(page).read_text()


def run_notebook(name: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Run the cells in order as a notebook does; return what the last line of each shows."""
    stored = json.loads((EXAMPLES / name).read_text())
    assert stored["nbformat"] == 4
    cells = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)  # nothing is committed
    module = ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", module)
    shown = []
    for cell in cells:
        *lines, last = ast.parse("".join(cell["source"])).body
        value = isinstance(last, ast.Expr)
        exec(compile(ast.Module(lines if value else [*lines, last], []), name, "exec"), module.__dict__)
        if value:
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), module.__dict__))
    return shown


@needs_lite0
def test_notebook_of_photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(EXAMPLES / "04_flowers.py", tmp_path)
    picture, classes, first, all_four, sure, left = run_notebook("photos.ipynb", monkeypatch)
    assert picture.size == (192, 192)
    assert classes == ["daisy", "rose", "tulip"]
    assert set(first.values()) == {"5 of 5"}
    assert set(all_four.values()) == {"5 of 5"}
    assert max(sure, key=sure.get) == "sunflower"
    assert left == ["daisy", "rose", "sunflower"]


@needs_minilm
def test_notebook_of_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    (shape, labels), curves, figure, unknown, answers = run_notebook("intents.ipynb", monkeypatch)
    assert shape == (15000, 384)
    assert len(labels) == 3
    assert curves["AnaCP"][-1] > 94 > curves["NCM"][-1] > 90
    assert figure.axes[0].get_ylim() == (0, 100)
    assert unknown["learned, and called unknown"] < 0.2 < 0.5 < unknown["never learned, and called unknown"]
    assert answers == ["delivery", "damage", "refund"]
