"""What starting costs: processor seconds of commands beside those of importing NumPy, in the same run.

    .venv/bin/python benchmarks/start_up.py

Processor seconds (user and system) of a process do not depend on what else the machine does, as wall-clock time would.
Commands take turns, so that whatever changes meanwhile meets all of them.

Importing NumPy costs less with OMP_NUM_THREADS=1: the unit is smaller then, and every multiple larger. Compare only
what was run with the same number of threads.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from measuring import Row, median, printed, row, spread

REPEATS = 9
NUMPY = "import numpy"
COMMAND = "from anacp.cli.app import main; main()"
BARS = {"--help": 4.0, "--version": 4.0, "info": 4.0, "predict": 12.0}  # times importing NumPy


def processor_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", *arguments], check=True, capture_output=True, env=_environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def rows() -> list[Row]:
    """Return one row a command: its median as a multiple of importing NumPy, and the bar it must not exceed."""
    with tempfile.TemporaryDirectory() as folder:
        model, photo = _learned(Path(folder))
        commands = {
            "--help": ["--help"],
            "--version": ["--version"],
            "info": ["info", model],
            "predict": ["predict", model, photo],
        }
        calls = {NUMPY: [NUMPY], **{name: [COMMAND, *given] for name, given in commands.items()}}
        for call in calls.values():
            processor_seconds(*call)  # the first writes bytecode
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(REPEATS):
            for name, call in calls.items():
                taken[name].append(processor_seconds(*call))
    unit = median(taken[NUMPY])
    return [
        row(
            f"anacp {name}",
            "x import numpy",
            median(taken[name]) / unit,
            at_most=bar,
            setting="processor seconds",
            note=f"{spread(taken[name])} s, NumPy {spread(taken[NUMPY])} s, {REPEATS} times",
        )
        for name, bar in BARS.items()
    ]


def _learned(folder: Path) -> tuple[str, str]:
    """Return a solved model of photos in two colours, and a photo."""
    draw = np.random.default_rng(0)
    for label, colour in {"blue": (30, 60, 220), "red": (210, 40, 40)}.items():
        (folder / "photos" / label).mkdir(parents=True)
        for number in range(5):
            pixels = np.clip(np.array(colour) + draw.integers(-30, 31, (480, 640, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / "photos" / label / f"{number}.jpg")
    model = str(folder / "model.anacp")
    processor_seconds(COMMAND, "learn", str(folder / "photos"), "--model", model)
    return model, str(folder / "photos" / "red" / "0.jpg")


def _environment() -> dict[str, str]:
    """Return an environment in which Python may keep bytecode, as an installed command does."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


if __name__ == "__main__":
    printed(rows())
