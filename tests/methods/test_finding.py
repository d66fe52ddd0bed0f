"""A method of one's own, in a file or an installed package, is known to everything alike."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import anacp
from anacp.catalogue import METHODS
from anacp.cli.app import app
from anacp.errors import InputError, ParameterError, UnknownNameError
from anacp.methods import find_method, methods_in
from tests.backbones.models import needs_minilm
from tests.conftest import blobs
from tests.methods.inputs import table

OWN = """
from anacp.catalogue import method
from anacp.learners import NCM

@method(page="")
class Mine(NCM):
    pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "home"))
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path / "mine.py"


def fresh_process(code: str, **environment: str) -> str:
    """Run code in a process that knows nothing of this one but its environment."""
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.usefixtures("own_registry")
def test_a_file_is_known_to_load_in_a_fresh_process(own: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "methods.json").write_text("[]")  # somebody changed it
    assert methods_in(own) == ["Mine"]
    x, y = blobs()
    model = METHODS["Mine"].new().partial_fit(x, y)
    model.save(tmp_path / "model")
    np.save(tmp_path / "x.npy", x)
    code = (
        f"import anacp, numpy; x = numpy.load({str(tmp_path / 'x.npy')!r});"
        f"print(anacp.load({str(tmp_path / 'model')!r}).predict(x).tolist())"
    )
    assert json.loads(fresh_process(code)) == model.predict(x).tolist()
    own.unlink()
    with pytest.raises(AssertionError, match="got none at"):
        fresh_process(code)


@pytest.mark.usefixtures("own_registry")
def test_a_class_by_another_name_and_its_dataclass_are_known(own: Path, tmp_path: Path) -> None:
    kept = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    a: int\n"
    own.write_text(kept + OWN.replace('page=""', '"Nearest of mine"'))
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "json.py").write_text(OWN.replace("class Mine", "class Beside"))
    assert methods_in(own) == ["Nearest of mine"]
    assert methods_in(tmp_path / "beside" / "json.py") == ["Beside"]
    assert sys.modules["json"] is json
    METHODS["Nearest of mine"].new().partial_fit(*blobs()).save(tmp_path / "model")
    code = f"import anacp; print(type(anacp.load({str(tmp_path / 'model')!r})).__name__)"
    assert fresh_process(code) == "Mine"


@pytest.mark.usefixtures("own_registry")
def test_a_model_file_brings_no_code(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine where nobody gave the file, a model of its method is refused by name."""
    methods_in(own)
    METHODS["Mine"].new().partial_fit(*blobs()).save(tmp_path / "model")
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "another"))
    del METHODS["Mine"]
    with pytest.raises(UnknownNameError, match="Unknown method 'Mine'"):
        anacp.load(tmp_path / "model")


def test_an_installed_package_is_known(own: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "mine-1.0.dist-info").mkdir(parents=True)
    own.rename(site / "mine.py")
    (site / "mine-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (site / "mine-1.0.dist-info" / "entry_points.txt").write_text("[anacp.methods]\nmine = mine\n")
    code = "from anacp.methods import find_method; print(find_method('mine').make.__module__)"
    assert fresh_process(code, PYTHONPATH=str(site)) == "mine"


@needs_minilm
@pytest.mark.usefixtures("own_registry")
def test_the_command_line_learns_with_it(own: Path, tmp_path: Path) -> None:
    model = tmp_path / "texts.anacp"
    arguments = ["learn", str(table(tmp_path / "a.csv", ["greeting", "weather"])), "--model", str(model)]
    result = CliRunner().invoke(app, [*arguments, "--learner", str(own)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    code = f"import anacp; print(type(anacp.load({str(model)!r}).learner).__name__)"
    assert fresh_process(code) == "Mine"
    result = CliRunner().invoke(app, [*arguments, "--learner", "NCM"])  # the same parameters, another method
    assert result.exit_code == 1
    assert "cannot change its method" in str(result.exception or result.output)


@pytest.mark.usefixtures("own_registry")
def test_what_is_no_method_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1")
    with pytest.raises(InputError, match="got none"):
        methods_in(tmp_path / "empty.py")
    with pytest.raises(InputError, match="Check the path"):
        methods_in(tmp_path / "nowhere.py")
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found")
    with pytest.raises(InputError, match=r"a Python file that runs, got ModuleNotFoundError: .*broken\.py"):
        methods_in(tmp_path / "broken.py")
    (tmp_path / "clash.py").write_text(OWN.replace("class Mine", "class AnaCP"))
    with pytest.raises(ParameterError, match="no method has yet, got 'AnaCP'"):
        methods_in(tmp_path / "clash.py")
    with pytest.raises(UnknownNameError, match="Did you mean 'AnaCP'"):
        find_method("AnaPC")


def test_every_entry_can_be_made_and_has_its_page() -> None:
    pages = Path(__file__).resolve().parents[2] / "docs" / "methods"
    for name, entry in METHODS.items():
        assert entry.name == name
        assert (pages / f"{entry.page}.md").is_file(), name
        for parameters in (entry.parameters, entry.quick, *entry.settings.values()):
            entry.check_parameters(parameters)
        if entry.takes == "features":
            assert entry.new(random_state=3, **entry.quick).random_state == 3
    places = [entry.compared for entry in METHODS.values() if entry.compared]
    assert sorted(places) == list(range(1, len(places) + 1))
