import json
import subprocess
import sys

import matplotlib.image
import pytest
from typer.testing import CliRunner

from anacp.cli import demo as demo_module
from anacp.cli.app import app, main
from anacp.learners import AnaCP
from anacp.version import __version__


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo with a smaller AnaCP: the same path through the code, in seconds."""
    monkeypatch.setattr(demo_module, "AnaCP", lambda random_state: AnaCP(n_projected=200, random_state=random_state))


def test_version_and_help() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"anacp {__version__}"
    assert "demo" in CliRunner().invoke(app, ["--help"]).output


@pytest.mark.usefixtures("small")
def test_demo(tmp_path) -> None:
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert sum(line.startswith("AnaCP  task") for line in lines) == 10
    assert any("A_last %" in line for line in lines)
    assert "\x1b" not in result.output
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["accuracy_curve.png", "accuracy_matrix.png", "results.json"]
    for name in names[:2]:
        height, width, _ = matplotlib.image.imread(tmp_path / "out" / name).shape
        assert min(height, width) > 300


@pytest.mark.usefixtures("small")
def test_demo_as_json(tmp_path) -> None:
    printed = CliRunner().invoke(app, ["demo", "--json", "--sample", "cifar100", "--output", str(tmp_path)])
    results = json.loads(printed.output)
    assert results == json.loads((tmp_path / "results.json").read_text())
    assert results["learners"]["AnaCP"]["A_last"] == pytest.approx(
        results["learners"]["AnaCP"]["steps"][-1]["accuracy"]
    )
    assert len(results["learners"]["NCM"]["steps"]) == 10


def test_errors_are_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["anacp", "demo", "--sample", "mnist"])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    assert capsys.readouterr().err.startswith("anacp: Expected the name of an embedded sample, got 'mnist'.")


def test_the_command_starts_without_what_only_some_of_it_needs() -> None:
    heavy = "transformers", "onnxruntime", "onnx", "matplotlib", "PIL", "peft", "pyarrow"
    code = f"import sys, anacp.cli.app; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
