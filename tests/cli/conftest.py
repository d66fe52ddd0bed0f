"""The command, as a person meets it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anacp.cli.app import app, main
from tests.adaptation.models import tiny
from tests.methods.inputs import folder
from tests.reports.made import write_features


def anacp(*arguments: object, code: int = 0, text: str | None = None) -> str:
    """Run a command and return what it printed, which has no colours where nobody sees them."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=text, catch_exceptions=False)
    assert result.exit_code == code, result.output
    assert "\x1b" not in result.output
    return result.output


@pytest.fixture
def error_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that fails, and returns its error: one line, and exit code 2."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr("sys.argv", ["anacp", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return run


@pytest.fixture
def features(tmp_path: Path) -> str:
    return write_features(tmp_path / "blobs.npz", n_classes=6)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two small models with networks made here: of the photos in photos/ and of the texts in t.csv beside them."""
    base = tmp_path_factory.mktemp("models")
    table = base / "t.csv"
    table.write_text("text,label\n" + "".join(f"{c} house,{c}\n{c} tree,{c}\n" for c in ("red", "blue")))
    photos = folder(base / "photos", ["blue", "red"], range(2))
    for kind, network, examples in (("photos", "vit", photos), ("texts", "bert", table)):
        tiny(network, base)
        given = ["--backbone", f"hf:{base / network}", "--learner", "NCM"]
        anacp("learn", examples, "--model", base / f"{kind}.anacp", *given)
    return {kind: base / f"{kind}.anacp" for kind in ("photos", "texts")}
