"""Runs cases, each in a fork with an end to its memory and time: `python -m tests.fuzz.corpus [NAME …]`, JSON out."""

import json
import os
import pkgutil
import resource
import select
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from tests.fuzz import corpus
from tests.fuzz.tally import one_line
from tests.fuzz.tiny import calm
from tests.fuzz.trying import HEADROOM, status

SECONDS = 60


def names() -> list[str]:
    """Return all cases."""
    return sorted(one.name for one in pkgutil.iter_modules(corpus.__path__) if not one.name.startswith("_"))


def problem(name: str) -> str:
    """Return what is wrong in a case, nothing if all is well."""
    case = import_module(f"{corpus.__name__}.{name}")
    folder = Path(tempfile.mkdtemp())
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.close(readable)
        found = _checked(case.check, folder)
        os.write(writable, json.dumps(found).encode())
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as file:
        ready, _, _ = select.select([readable], [], [], SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
        said = file.read()
    os.waitpid(child, 0)
    shutil.rmtree(folder, ignore_errors=True)
    return json.loads(said) if said else "the process fell over" if ready else f"no answer in {SECONDS} s"


def _checked(check, folder: Path) -> str:
    limit = status("VmSize") + HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.environ["ANACP_HOME"] = str(folder / "home")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1), os.dup2(quiet, 2)
    try:
        check(folder)
    except BaseException as problem:
        return one_line(problem)
    return ""


if __name__ == "__main__":
    calm()
    print(json.dumps({name: problem(name) for name in sys.argv[1:] or names()}, indent=1))
