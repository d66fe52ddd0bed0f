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
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from anacp.experiments import ScenarioSettings, Specification, run

WRITES = {"open", "os.rename", "os.remove", "os.truncate", "os.chmod", "os.mkdir", "shutil.rmtree"}


def attempt(
    specification: Specification, folder: Path, *, seconds: float | None = None, doom: Callable[[], None] | None = None
) -> bool:
    """Fork, run until killed, and return whether the run came to its end before."""
    child = os.fork()
    if not child:
        if doom:
            doom()
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


def die_at_operation(number: int, folder: Path) -> None:
    """Kill this process right before it opens, renames or removes a file of the run, after doing so `number` times."""
    left, ours = number, str(folder)

    def hook(event: str, arguments: tuple) -> None:
        nonlocal left
        if event in WRITES and isinstance(arguments[0], str | os.PathLike) and str(arguments[0]).startswith(ours):
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    sys.addaudithook(hook)


def die_within_file(number: int, folder: Path) -> None:
    """Have the system kill this process when a file grows beyond 1,000 bytes, 2,000, 4,000, …"""
    size = 1000 << number
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


def kill_one_by_one(specification: Specification, folder: Path, kind: str, doom: Callable[[int, Path], None]) -> int:
    """Kill one run at the first point of a kind, the next at the second, and so on; then let each come to its end."""
    kills = 0
    while not attempt(specification, place := folder / f"{kind}-{kills}", doom=partial(doom, kills, place)):
        assert attempt(specification, place)
        kills += 1
    return kills


if __name__ == "__main__":
    torch.set_num_threads(1)
    features, output = sys.argv[1], Path(sys.argv[2])
    small = {"n_projected": 50, "n_replay": 10}
    long, short = (Specification(features, "AnaCP", small, scenario=ScenarioSettings(tasks=n), seed=1) for n in (8, 2))
    assert attempt(short, output / "short")
    start = time.perf_counter()
    assert attempt(long, output / "long")
    at_random = kill_at_random(long, output, 20, time.perf_counter() - start)
    at_operations = kill_one_by_one(short, output, "operation", die_at_operation)
    print(json.dumps([at_random, at_operations, kill_one_by_one(short, output, "size", die_within_file)]))
