"""The walk-through of docs/everyday.md: every command runs, in order, and prints what the page says."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.backbones.models import needs_lite0
from tests.cli.conftest import anacp

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Seconds, sizes, dates and the last digits of probabilities are those of a machine.
OWN = re.compile(r"\d+\.\d+ s\b|\d+(\.\d+)? [kM]B|\b[01]\.\d+|\d{4}-\d\d-\d\d \d\d:\d\d")


def run(line: str) -> str:
    """Run one line of the page, and return what it prints."""
    command, _, target = line.partition(" > ")
    words = shlex.split(command, comments=True)
    if words[0] == "cat":
        return Path(words[1]).read_text()
    if words[0] == "python":
        runpy.run_path(str(ROOT / "examples" / words[1]), run_name="__main__")
        return ""
    assert words[0] == "anacp"
    printed = anacp(*words[1:])
    if target:
        Path(target).write_text(printed)
        return ""
    return printed


def _comparable(printed: str) -> list[str]:
    return [OWN.sub("…", line).rstrip() for line in printed.splitlines()]


@needs_lite0
def test_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed, n_commands = "", 0
    for language, body in BLOCK.findall((ROOT / "docs" / "everyday.md").read_text()):
        if language == "text":
            assert _comparable(printed) == _comparable(body)
            continue
        lines = [line for line in body.splitlines() if not line.startswith("pip ")]
        printed = "".join(run(line) for line in lines)
        n_commands += len(lines)
    assert n_commands >= 10
    assert Path("report", "confusion.png").is_file()


def test_the_pictures_are_those_of_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sheet of photos is what the script draws, and every picture of the page has its script."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "04_flowers.py"), run_name="__main__")
    drawn = np.asarray(Image.open("flowers.png"), float)
    assert np.abs(drawn - np.asarray(Image.open(ROOT / "docs" / "images" / "flowers.png"))).mean() < 5
    script = (ROOT / "tools" / "everyday_pictures.py").read_text()
    shown = re.findall(r"\]\(images/(.+?)\)", (ROOT / "docs" / "everyday.md").read_text())
    assert len(shown) == 3
    assert all(name in script for name in shown)
