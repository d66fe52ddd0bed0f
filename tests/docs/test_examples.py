"""Every example runs and prints what it is there to show."""

import runpy
from pathlib import Path

import pytest

from tests.backbones.models import needs_minilm

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
