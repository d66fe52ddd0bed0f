"""A short turn of every torture; `make torture` has the long one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARES = {"mutations": 0.02, "bits": 0.03, "kills": 0.02, "faults": 0.05, "threads": 0.01, "sequences": 0.005}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: forks, limits and /proc")


@pytest.mark.parametrize("name", SHARES)
def test_short(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    command = [sys.executable, "-m", "tools.torture", "--only", name, "--share", str(SHARES[name]), "--seed", "15"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command += ["--json", str(tmp_path / "found.json")]
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    assert printed.returncode == 0, printed.stdout + printed.stderr
    found = json.loads((tmp_path / "found.json").read_text())["tortures"][name]
    if found["skipped"]:
        pytest.skip(found["skipped"])
    assert found["attempts"] > 0


def test_threads_that_take_turns_are_never_accused() -> None:
    """The judge of the threads, on what must be innocent: a failure there is a race and no rounding."""
    program = (
        "from tests.fuzz.threads import run; found = run(2000, 15, one_at_a_time=True); "
        "print('\\n'.join(found.failures)); raise SystemExit(bool(found.n_failures))"
    )
    printed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert printed.returncode == 0, printed.stdout + printed.stderr
