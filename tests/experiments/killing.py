"""Runs an experiment in processes that are killed: `python -m tests.experiments.killing FEATURES FOLDER`.

Everything is imported once; each attempt is a fork of this process, killed at a random moment, at a given file
operation, or when a file grows beyond a size: within a library, where no operation is seen. Prints how often.
"""

import json
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

import torch

from anacp.experiments import Specification, run
from anacp.experiments.scenario_settings import ScenarioSettings

WRITES = {"open", "os.rename", "os.remove", "os.truncate", "os.chmod", "os.mkdir", "shutil.rmtree"}


def attempt(
    specification: Specification, folder: Path, *, seconds: float | None = None, operation: int = 0, size: int = 0
) -> bool:
    """Fork, run until killed, and return whether the run came to its end before."""
    child = os.fork()
    if not child:
        if operation:
            _die_at(operation, str(folder))
        if size:
            _die_beyond(size)
        try:
            for _ in run(specification, folder, checkpoint_seconds=0):
                pass
        finally:
            os._exit(0 if (folder / "results.json").exists() else 1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status):
        raise SystemExit("a run ended with an error of its own")
    return True


def _die_at(operation: int, folder: str) -> None:
    """Kill this process right before it opens, renames or removes a file of the run for the n-th time."""
    left = operation

    def hook(event: str, arguments: tuple) -> None:
        nonlocal left
        if event in WRITES and isinstance(arguments[0], str | os.PathLike) and str(arguments[0]).startswith(folder):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _die_beyond(size: int) -> None:
    """Have the system kill this process when a file grows beyond that many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and would get an error instead
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def kill_at_random(specification: Specification, folder: Path, least: int, whole: float) -> int:
    """Kill until the run ends all the same; begin another until there were enough kills.

    A whole run took that many seconds a moment ago: a busy machine is given more time, and comes forward too.
    """
    kills, draw, number = 0, random.Random(0), 0
    while True:
        seconds = draw.uniform(0.0, whole / 2)
        if not attempt(specification, folder / f"random-{number}", seconds=seconds):
            kills += 1
        elif kills >= least:
            return kills
        else:
            number += 1


def kill_at_every_operation(specification: Specification, folder: Path) -> int:
    """Kill one run at its first file operation, the next at its second, and so on; then let each come to its end."""
    operation = 1
    while not attempt(specification, folder / f"operation-{operation}", operation=operation):
        assert attempt(specification, folder / f"operation-{operation}")
        operation += 1
    return operation - 1


def kill_within_files(specification: Specification, folder: Path) -> int:
    """Kill at the first byte of a file beyond 1,000, then beyond 2,000, 4,000, …, and let each come to its end."""
    kills = 0
    while not attempt(specification, folder / f"size-{kills}", size=1000 << kills):
        assert attempt(specification, folder / f"size-{kills}")
        kills += 1
    return kills


if __name__ == "__main__":
    torch.set_num_threads(1)
    features, output = sys.argv[1], Path(sys.argv[2])
    small = {"n_projected": 50, "n_replay": 10}
    long, short = (Specification(features, "AnaCP", small, scenario=ScenarioSettings(tasks=n), seed=1) for n in (8, 2))
    assert attempt(short, output / "operation")
    start = time.perf_counter()
    assert attempt(long, output / "random")
    whole = time.perf_counter() - start
    kills = kill_at_random(long, output, 20, whole), kill_at_every_operation(short, output)
    print(json.dumps([*kills, kill_within_files(short, output)]))
