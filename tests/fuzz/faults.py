"""Torture 4: a disk that is full, broken or read-only, at any of the calls that write: `faults.c` lets them fail.

The library is built by the compiler of the machine when it is needed and preloaded into a process of its own, whose
forks do the work; safetensors writes through the same calls as Python does, so that both meet the fault.
"""

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random

from tests.fuzz.tally import Tally, Tick, silent
from tests.fuzz.tiny import calm

HERE = Path(__file__).resolve()
KINDS = ("open", "write", "short write", "fsync", "rename", "mkdir", "unlink")
SHORT = KINDS.index("short write")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT)


def run(n: int, seed: int, *, tick: Tick = silent) -> Tally:
    """Let n calls fail; each work says so in one line and changes nothing, and the next one succeeds."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        return Tally("file-system faults", "faults", skipped="needs Linux and a C compiler")
    with tempfile.TemporaryDirectory() as temporary:
        library = Path(temporary) / "faults.so"
        source = HERE.with_name("faults.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        command = [sys.executable, "-m", "tests.fuzz.faults", str(library), str(n), str(seed)]
        environment = os.environ | {"LD_PRELOAD": str(library)}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment, cwd=HERE.parents[2]
        ) as process:
            assert process.stdout is not None
            last = "{}"
            for line in process.stdout:
                last = line
                if line.startswith("["):
                    tick(*json.loads(line))
    if process.returncode:
        raise RuntimeError(f"the process that meets faults ended with {process.returncode}")
    return Tally.restored(json.loads(last))


def _in_preloaded(library: Path, n: int, seed: int, tick: Tick) -> Tally:
    from tests.fuzz.kills import LONGEST, attempt
    from tests.fuzz.works import works

    calm()
    shim = ctypes.CDLL(str(library))
    tally = Tally("file-system faults", "faults", figures={"borne without a word": 0})
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tasks = works(folder)
        places = {work.name: _calls(work, folder, shim) for work in tasks}
        for number in range(4 * n):
            if tally.attempts >= n:
                break
            draw = Random(f"faults {seed} {number}")
            work = tasks[number % len(tasks)]
            kind = draw.choice([kind for kind in range(len(KINDS)) if places[work.name][kind]])
            nth, code = draw.randrange(places[work.name][kind]), draw.choice(ERRORS)
            for_ever = draw.random() < 0.5
            place = work.begin(folder / "attempt")
            arm = partial(shim.fault_arm, str(place).encode(), kind, nth, code, int(for_ever))
            often = "and all after it" if for_ever else "once"
            words = f"{work.name}, {errno.errorcode[code]} at {KINDS[kind]} {nth} {often}"
            ended = attempt(work, place, arm, LONGEST)
            tally.attempts += 1
            _judge(tally, work, place, kind, ended, f"seed {seed} fault {number}, {words}")
            again = attempt(work, place, None, LONGEST)
            if again:
                tally.fail("next run", f"seed {seed} fault {number}, {words}: {again}")
            elif wrong := work.unfinished(place):
                tally.fail("left behind", f"seed {seed} fault {number}, {words}: {wrong}")
            shutil.rmtree(place)
            tick(tally.attempts, n)
    return tally


def _judge(tally: Tally, work, place: Path, kind: int, ended: str, words: str) -> None:
    if not ended:
        tally.figures["borne without a word"] += 1
        if work.state(place) != work.after:
            tally.fail("silence", f"{words}: nothing was said, and the work is not done")
    elif kind == SHORT:
        tally.fail("short write", f"{words}: {ended}")  # nothing has failed: the rest must be written
    elif not ended.startswith("exit code 2: "):
        tally.fail("raw exception", f"{words}: {ended}")
    elif "\n" in ended:
        tally.fail("several lines", f"{words}: {ended}")
    else:
        tally.refusals += 1
    if damage := work.damage(place):
        tally.fail("damage", f"{words}: {damage}")


def _calls(work, folder: Path, shim: ctypes.CDLL) -> list[int]:
    """Return how many calls of each kind the work makes when nothing fails."""
    from tests.fuzz.kills import LONGEST, attempt

    place = work.begin(folder / "counted")
    readable, writable = os.pipe()

    def count() -> None:
        shim.fault_arm(str(place).encode(), -1, 0, 0, 0)

    def said() -> None:
        os.write(writable, json.dumps([shim.fault_seen(kind) for kind in range(len(KINDS))]).encode())

    assert not attempt(work, place, count, LONGEST, after=said)
    os.close(writable)
    with os.fdopen(readable) as counted:
        calls: list[int] = json.loads(counted.read())
    shutil.rmtree(place)
    return calls


def _told(done: int, total: int) -> None:
    print(json.dumps([done, total]), flush=True)


if __name__ == "__main__":
    found = _in_preloaded(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), _told)
    print(json.dumps(found.as_dict()), flush=True)
