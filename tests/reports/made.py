"""Small real runs for tests of what is read from them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anacp.experiments import Failed, Finished, RunResult, ScenarioSettings, Specification, sweep
from anacp.paper import Cell
from tests.adaptation.models import WORDS, tiny
from tests.conftest import blobs

TEN, FOUR = ScenarioSettings(tasks=10), ScenarioSettings(tasks=4)
SMALL = {"n_projected": 60, "n_replay": 10}
SUBSTITUTE = {"for": "Table 1: DINO-v2 on CIFAR100", "note": "No DINO-v2 weights here."}
# The rows of Table 1 that a test can run: method, parameters.
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "Joint linear probe": ("LinearProbe", {"n_epochs": 3}),
    "SimpleCIL": ("NCM", {}),
    "SLDA": ("SLDA", {}),
    "RanPAC": ("RanPAC", {"n_projected": 60}),
    "AnaCP - Σ_y": ("AnaCP", SMALL | {"covariance": "class"}),
    "AnaCP": ("AnaCP", SMALL),
}


def write_features(path: Path, names: Iterable[str] = (), *, seed: int = 0, n_classes: int = 20) -> str:
    """Write features of classes that overlap; `names` replace those of the first."""
    x, y = blobs(n_classes=n_classes, n_rows=30, n_features=10, seed=seed)
    labels = np.array([*names, *(f"class {i}" for i in range(n_classes))])[:n_classes][y]
    n = 20 * n_classes
    np.savez(path, xtr=x[:n], ytr=labels[:n], xte=x[n:], yte=labels[n:])
    return str(path)


def write_topics(folder: Path, n_classes: int) -> tuple[str, str]:
    """Write texts of some classes, and a small network; return what an experiment calls these."""
    pytest.importorskip("transformers")
    lines = [f"{WORDS[i % 9]} {WORDS[i % 5]} {WORDS[i % 7]},{i % n_classes}" for i in range(120)]
    (folder / "topics.csv").write_text("text,label\n" + "\n".join(lines))
    tiny("bert", folder)
    return str(folder / "topics.csv"), f"hf:{folder / 'bert'}"


def of_table1(features: str, rows: Iterable[str] = ROWS, *, seeds: int = 3, **changes: Any) -> list[Specification]:
    """The rows of Table 1 on other data, declared a substitute for its first column."""
    stated = {"scenario": TEN, "substitute": SUBSTITUTE} | changes
    column = stated.pop("column", "CIFAR100")
    return [
        Specification(
            features, method, parameters, title=row, joint=row.startswith("Joint"), seed=seed,
            paper=Cell("table1", row, column), embedding=row == "AnaCP" and seed == 0, **stated,
        )
        for row, (method, parameters) in ROWS.items() if row in rows for seed in range(seeds)
    ]  # fmt: skip


def plain(features: str, titles: Iterable[str] = ("NCM", "SLDA"), **changes: Any) -> list[Specification]:
    """A plain comparison of methods, which stands for nothing in the paper."""
    return [Specification(features, title, **{"scenario": FOUR} | changes) for title in titles]


def make(folder: Path, specifications: Iterable[Specification]) -> list[RunResult]:
    """Run everything below a folder."""
    events = [status.event for status in sweep(specifications, folder, jobs=1)]
    assert not [event for event in events if isinstance(event, Failed)]
    return [event.result for event in events if isinstance(event, Finished)]


def change(folder: Path, **changes: Any) -> None:
    """Damage the results of a run, or let them be those of another version."""
    path = folder / "results.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
