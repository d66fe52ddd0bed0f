"""No defect that was found comes back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path.stem for path in (ROOT / "tests" / "fuzz" / "corpus").glob("[a-z]*.py"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: forks, limits and /proc")


@pytest.fixture(scope="module")
def problems() -> dict[str, str]:
    """Every case in a process of its own, forked from one that has imported everything."""
    pytest.importorskip("transformers")
    command = [sys.executable, "-m", "tests.fuzz.corpus"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    assert printed.returncode == 0, printed.stderr
    return json.loads(printed.stdout)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, problems: dict[str, str]) -> None:
    assert problems[name] == ""
