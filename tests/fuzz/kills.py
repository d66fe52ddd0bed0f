"""Torture 3: work that is killed, at any moment, at any file operation, and within any file."""

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from math import log
from pathlib import Path
from random import Random

from anacp.errors import AnacpError
from tests.experiments.killing import WRITES, die_at_operation
from tests.fuzz.tally import Tally, Tick, silent
from tests.fuzz.tiny import calm
from tests.fuzz.works import Work, works

LONGEST = 120.0  # seconds that work may take in peace


def run(n: int, seed: int, *, tick: Tick = silent) -> Tally:
    """Kill until there were n kills; what is there is old or new, the next run ends well and leaves nothing behind."""
    calm()
    tally = Tally("kills", "kills")
    tally.figures = {"ended before the kill": 0}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tasks = [Known(work, folder) for work in works(folder)]
        number = 0
        while tally.attempts < n and number < 4 * n:
            draw = Random(f"kills {seed} {number}")
            task = tasks[number % len(tasks)]
            place = task.work.begin(folder / "attempt")
            how, doom, seconds = task.doom(draw, place)
            words = f"seed {seed} attempt {number}, {task.work.name} killed {how}"
            ended = attempt(task.work, place, doom, seconds)
            if ended == "killed":
                tally.attempts += 1
                _judge(tally, task.work, place, words)
            else:
                tally.figures["ended before the kill"] += 1
                if ended:
                    tally.fail("error", f"{words}: {ended}")
            shutil.rmtree(place)
            number += 1
            tick(tally.attempts, n)
    return tally


def _judge(tally: Tally, work: Work, place: Path, words: str) -> None:
    if damage := work.damage(place):
        tally.fail("damage", f"{words}: {damage}")
    again = attempt(work, place, None, LONGEST)
    if again:
        tally.fail("next run", f"{words}: {again}")
    elif wrong := work.unfinished(place):
        tally.fail("left behind" if wrong.startswith("left") else "damage", f"{words}: {wrong}")


class Known:
    """Work, how long it takes, how many file operations it has, and how large its largest file becomes."""

    def __init__(self, work: Work, folder: Path) -> None:
        self.work = work
        place = work.begin(folder / "measured")
        start = time.perf_counter()
        problem = attempt(work, place, None, LONGEST)
        assert not problem, f"{work.name} fails in peace: {problem}"
        self.seconds = time.perf_counter() - start
        self.largest = max(
            path.stat().st_size for path in place.rglob("*") if path.is_file() and "home" not in path.parts
        )
        shutil.rmtree(place)
        place = work.begin(folder / "measured")
        readable, writable = os.pipe()
        assert not attempt(work, place, partial(count_operations, place, writable), LONGEST)
        os.close(writable)
        with os.fdopen(readable, "rb") as counted:
            self.operations = len(counted.read())
        shutil.rmtree(place)

    def doom(self, draw: Random, place: Path) -> tuple[str, Callable[[], None] | None, float]:
        """Return how it will die, in words and as what its process does first, and after how many seconds."""
        way = draw.choices(("moment", "operation", "size"), (4, 4, 2))[0]
        if way == "moment":
            seconds = draw.uniform(0.0, self.seconds)
            return f"after {seconds:.4f} s", None, seconds
        if way == "operation":
            operation = draw.randrange(self.operations)
            return f"at file operation {operation}", partial(die_at_operation, operation, place), LONGEST
        size = int(2 ** draw.uniform(0, log(self.largest, 2)))
        return f"beyond {size} bytes of a file", partial(die_beyond, size), LONGEST


def count_operations(place: Path, writable: int) -> None:
    """Write a byte for each file operation of this process below a folder."""
    ours = str(place)

    def hook(event: str, arguments: tuple) -> None:
        if event in WRITES and isinstance(arguments[0], str | os.PathLike) and str(arguments[0]).startswith(ours):
            os.write(writable, b".")

    sys.addaudithook(hook)


def die_beyond(size: int) -> None:
    """Have the system kill this process when a file grows beyond a size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def attempt(
    work: Work,
    place: Path,
    doom: Callable[[], None] | None,
    seconds: float,
    after: Callable[[], None] | None = None,
) -> str:
    """Do the work in a process of its own; return "killed", what it died of by itself, or nothing."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.close(readable)
        os.dup2(writable, 2)
        _child(work, place, doom, after)
    os.close(writable)
    ended, status = _waited(child, seconds)
    with os.fdopen(readable, "rb") as printed:
        said = printed.read().decode(errors="replace").strip()
    if os.WIFSIGNALED(status):
        return "killed" if doom or ended else f"did not end in {seconds:.0f} s"
    return f"exit code {os.WEXITSTATUS(status)}: {said[-300:]}" if status else ""


def _waited(child: int, seconds: float) -> tuple[bool, int]:
    """Wait for a process, kill it when its time is over; return whether this was meant to be, and its status."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return True, status
        time.sleep(min(0.002, max(0.0, end - time.perf_counter())))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return seconds < LONGEST, status


def _child(work: Work, place: Path, doom: Callable[[], None] | None, after: Callable[[], None] | None) -> None:
    code = 1
    try:
        if doom:
            doom()
        work.act(place)
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    except (AnacpError, OSError) as problem:  # the system's own errors are as good as ours: they have a number
        code = 2 if isinstance(problem, AnacpError) or problem.errno else 1
        os.write(2, f"{type(problem).__name__}: {problem}".encode())
    except BaseException as problem:
        os.write(2, f"raw {type(problem).__name__}: {problem}".encode())
    finally:
        if after and not code:
            after()
        os._exit(code)
