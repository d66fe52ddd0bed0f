"""kill -9 at any moment; `python -m tests.serve.killing` does it hundreds of times."""

import os
import subprocess
import sys
from pathlib import Path


def test_nothing_that_was_answered_is_lost() -> None:
    command = [sys.executable, "-m", "tests.serve.killing", "--kills", "8", "--seed", "1"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 kills: nothing that was answered is lost" in done.stdout
