"""No defect that was found comes back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path.stem for path in (ROOT / "tests" / "fuzz" / "corpus").glob("[a-z]*.py"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: forks, limits and /proc")
@pytest.mark.timeout(1800)  # cases that hang are given up one by one
def test_no_defect_is_back() -> None:
    """Every case in a process of its own, forked from one that has imported everything: hence one test for all."""
    pytest.importorskip("transformers")
    command = [sys.executable, "-m", "tests.fuzz.corpus"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    problems = json.loads(printed.stdout)
    assert sorted(problems) == CASES
    assert {name: problem for name, problem in problems.items() if problem} == {}
