"""A kill while a model was saved left a hidden folder for ever."""

import os
import signal
from pathlib import Path

from tests.experiments.killing import die_at_operation
from tests.fuzz.corpus._common import solved


def check(folder: Path) -> None:
    model, path = solved(), folder / "model.anacp"
    model.save(path)
    for operation in range(12):
        child = os.fork()
        if not child:
            die_at_operation(operation, folder)
            model.save(path)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
    model.save(path)
    left = sorted(one.name for one in folder.iterdir())
    assert left == ["model.anacp"], f"{len(left) - 1} left: {left}"
