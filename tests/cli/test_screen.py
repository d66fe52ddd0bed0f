"""Names and texts from data are shown on the screen, never obeyed by the terminal."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.table import Table

import anacp as package
from anacp.cli.screen import Screen
from anacp.words import visible
from tests.cli.conftest import anacp
from tests.conftest import blobs

EVIL = "\x1b[2J\x1b]0;owned\x07red\u202e\x9b1m\nanacp: all is well"
SHOWN = r"\x1b[2J\x1b]0;owned\x07red\u202e\x9b1m\nanacp: all is well"


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert visible(EVIL) == SHOWN
    assert visible("\udcff\ud800") == r"\udcff\ud800"
    assert visible("a\tb\nc\x1b", keep="\n\t") == "a\tb\nc\\x1b"
    plain = "Zoë\u00a0\u3000 猫 👩\u200d🚀 \\ [red] 'x'"
    assert visible(plain) == plain


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_that_is_printed_is_obeyed(terminal: bool) -> None:
    file = io.StringIO()
    screen = Screen(file=file, force_terminal=terminal, width=200, color_system=None)
    table = Table(EVIL)
    table.add_row(EVIL)
    screen.print(table)
    screen.print(f"[red]{EVIL}[/red]")
    printed = file.getvalue()
    assert printed.count(r"\x1b[2J\x1b]0;owned\x07red\u202e\x9b1m") == 3
    assert "[red]" in printed
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(printed)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    x, y = blobs(n_features=4)
    labels = np.array([EVIL if label else "plain" for label in y])
    package.NCM().partial_fit(x, labels).save(tmp_path / "model.anacp")
    np.savez(tmp_path / "rows.npz", xtr=x, ytr=labels, xte=x, yte=labels)
    return tmp_path / "model.anacp"


@pytest.mark.parametrize("command", ["info", "predict", "evaluate"])
def test_labels(command: str, model: Path) -> None:
    rows = [] if command == "info" else [model.with_name("rows.npz")]
    printed = anacp(command, model, *rows)
    assert SHOWN[:30] in printed
    assert not any(line.startswith("anacp: all is well") for line in printed.splitlines())
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(printed)
    assert EVIL in _texts(json.loads(anacp(command, model, *rows, "--json")))


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def test_errors(error_of, tmp_path: Path) -> None:
    name = EVIL.replace("\n", " ").replace("/", "")
    assert r"\x1b[2J\x1b]0;owned\x07red" in error_of("info", tmp_path / name)
    (tmp_path / f"{name}.csv").write_text("nothing,of,use\n1,2,3\n")
    error = error_of("learn", tmp_path / f"{name}.csv", "--model", tmp_path / "m.anacp")
    assert r"\x1b[2J" in error
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(error)
