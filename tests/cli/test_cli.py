import json
import subprocess
import sys

import matplotlib.image
import pytest

from anacp import learners
from anacp.learners import AnaCP
from anacp.version import __version__
from tests.cli.conftest import anacp


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo with a smaller AnaCP: the same path through the code, in seconds."""
    monkeypatch.setattr(learners, "AnaCP", lambda random_state: AnaCP(n_projected=200, random_state=random_state))


def test_version_and_help() -> None:
    assert anacp("--version").strip() == f"anacp {__version__}"
    assert "demo" in anacp("--help")


@pytest.mark.usefixtures("small")
def test_demo(tmp_path) -> None:
    lines = anacp("demo", "--output", tmp_path / "out").splitlines()
    assert sum(line.startswith("AnaCP  task") for line in lines) == 10
    assert any("A_last %" in line for line in lines)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["accuracy_curve.png", "accuracy_matrix.png", "results.json"]
    for name in names[:2]:
        height, width, _ = matplotlib.image.imread(tmp_path / "out" / name).shape
        assert min(height, width) > 300


@pytest.mark.usefixtures("small")
def test_demo_as_json(tmp_path) -> None:
    results = json.loads(anacp("demo", "--json", "--sample", "cifar100", "--output", tmp_path))
    assert results == json.loads((tmp_path / "results.json").read_text())
    own = results["learners"]["AnaCP"]
    assert own["A_last"] == pytest.approx(own["steps"][-1]["accuracy"])
    assert len(results["learners"]["NCM"]["steps"]) == 10


def test_errors_are_one_line(error_of) -> None:
    assert error_of("demo", "--sample", "mnist").startswith("anacp: Unknown embedded sample 'mnist'. Known: cifar100")


def test_the_command_starts_without_what_only_some_of_it_needs() -> None:
    heavy = "transformers", "onnxruntime", "onnx", "matplotlib", "PIL", "peft", "pyarrow"
    code = f"import sys, anacp.cli.app; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
