"""Ctrl-C and what the system refuses: one line, what was kept, and nothing changed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from anacp.cli.failures import MEMORY, said
from tests.methods.inputs import folder

ROOT = Path(__file__).resolve().parents[2]
# Stops itself as soon as a module is imported or a function is called, as a person might just then.
STOPPED_AT = """
import builtins, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
wanted, real = sys.argv.pop(1), builtins.__import__
def watched(name, *rest, **more):
    if name == wanted:
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest, **more)
builtins.__import__ = watched
from anacp.__main__ import main
main()
"""


def run(*arguments: object, code: str = "from anacp.__main__ import main; main()", **options) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )


@pytest.mark.parametrize("module", ["typer", "anacp.cli.learn", "numpy", "torch"])
def test_stopped_while_it_starts(module: str, models: dict[str, Path], tmp_path: Path) -> None:
    photos = folder(tmp_path / "photos", ["green"], range(2))
    before = models["photos"].read_bytes()
    process = run(module, "learn", photos, "--model", models["photos"], code=STOPPED_AT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("anacp: stopped. ")
    assert err.count("\n") == 1
    assert models["photos"].read_bytes() == before


def test_stopped_at_work(models: dict[str, Path], anacp_home: Path, tmp_path: Path) -> None:
    photos = folder(tmp_path / "photos", ["green"], range(200))
    (model := tmp_path / "model.anacp").write_bytes(models["photos"].read_bytes())
    # A shell's background jobs ignore Ctrl-C, and so would this process if the tests run in one.
    code = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)\nimport anacp.encoders.stored as s\n"
    code += "s.ROWS_PER_SHARD = 16; from anacp.__main__ import main; main()"
    process = run("learn", photos, "--model", model, code=code)
    while not list((anacp_home / "unfinished").rglob("*.safetensors")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.startswith(f"anacp: stopped. {model} is as it was. The features of ")
    assert "the same command goes on from there" in err
    assert err.count("\n") == 1
    assert model.read_bytes() == models["photos"].read_bytes()
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("command", ["learn", "forget"])
def test_a_file_that_cannot_grow_is_one_line(command: str, models: dict[str, Path], tmp_path: Path) -> None:
    photos = folder(tmp_path / "photos", ["green" if command == "learn" else "red"], range(2))
    (model := tmp_path / "model.anacp").write_bytes(before := models["photos"].read_bytes())
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    given = [photos, "--model", model] if command == "learn" else [model, photos]
    process = run(command, *given, code=code + "from anacp.__main__ import main; main()")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.startswith(f"anacp: Expected to write {model}, got: File too large. ")
    assert err.count("\n") == 1
    assert model.read_bytes() == before
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_place_that_is_none_is_named(models: dict[str, Path], tmp_path: Path, error_of) -> None:
    photos = folder(tmp_path / "photos", ["green"], range(2))
    (tmp_path / "file").write_text("no folder")
    model = tmp_path / "file" / "deeper" / "model.anacp"
    error = error_of("learn", photos, "--model", model)
    assert f"Expected to write {model}, got a file where there must be a folder: {tmp_path / 'file'}" in error
    assert ".lock" not in error


def test_memory_that_is_not_there() -> None:
    problems = []
    for take in (lambda: torch.empty(10**16), lambda: np.empty(10**17)):
        with pytest.raises((RuntimeError, MemoryError)) as refused:
            take()
        problems.append(said(refused.value))
    assert problems == [MEMORY, MEMORY]
    assert said(RuntimeError("a bug of ours")) is None
    assert "Make room on the disk" in str(said(OSError(28, "No space left on device")))
