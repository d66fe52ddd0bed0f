"""Killed at any moment, a run resumes, and ends as if nothing had happened."""

import json
import os
import subprocess
import sys
from pathlib import Path

from safetensors.numpy import load_file

from tests.reports.made import write_features

ROOT = Path(__file__).resolve().parents[2]


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def comparable(folder: Path) -> tuple[dict, list, dict]:
    """All that a run leaves but times and memory."""
    results = json.loads((folder / "results.json").read_text())
    steps = [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]
    for timed in (results, *steps):
        del timed["seconds"]
    del results["peak_memory_bytes"]
    return results, steps, {name: array.tobytes() for name, array in load_file(folder / "model.anacp").items()}


def test_killed_runs_end_alike(tmp_path: Path) -> None:
    features = write_features(tmp_path / "blobs.npz", n_classes=16)
    command = [sys.executable, "-m", "tests.experiments.killing", features, str(tmp_path)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert printed.returncode == 0, printed.stderr
    at_random, at_operations, within_files = json.loads(printed.stdout.splitlines()[-1])
    assert at_random >= 20
    assert at_operations >= 15
    assert within_files >= 5
    for kind, whole, n_steps in (("random", "long", 8), ("operation", "short", 2), ("size", "short", 2)):
        expected, names = comparable(tmp_path / whole), files(tmp_path / whole)
        assert len(expected[1]) == n_steps
        assert names == {"spec.toml", "environment.json", "steps.jsonl", "results.json", "model.anacp"}
        killed = list(tmp_path.glob(f"{kind}-*"))
        assert killed
        for folder in killed:
            assert comparable(folder) == expected, folder
            assert files(folder) == names
