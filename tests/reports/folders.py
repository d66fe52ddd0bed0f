"""Run folders with plausible numbers, laid out as runs lay them out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

ACCURACIES = {"Joint linear probe": 93.0, "NCM": 84.0, "SLDA": 88.5, "RanPAC": 90.1, "AnaCP - Σ_y": 92.1, "AnaCP": 92.0}
BACKBONE = {
    "name": "minilm-l6",
    "fingerprint": "1c0f…",
    "pretrained_on": "1 billion English sentence pairs without class labels",
    "licence": "Apache-2.0",
}
SUBSTITUTE = {"for": "Table 1: DINO-v2 on CIFAR100", "note": "No DINO-v2 weights here."}


def write_run(folder: Path, title: str = "AnaCP", seed: int = 0, **changes: Any) -> Path:
    """Write one finished run; `changes` replace entries of results.json, `A_last` sets the level of its accuracies."""
    n_tasks = changes.pop("n_tasks", 4)
    level = changes.pop("A_last", ACCURACIES.get(title, 80.0))
    joint = changes.pop("joint", title.startswith("Joint"))
    rows = accuracy_rows(level, n_tasks, seed, joint=joint)
    facts = {
        "format": "anacp-run",
        "format_version": 1,
        "title": title,
        "method": title,
        "seed": seed,
        "dataset": {
            "name": "clinc150",
            "title": "CLINC150",
            "n_train": 800,
            "n_test": 240,
            "n_classes": 8,
            "licence": "CC-BY 3.0",
        },
        "backbone": BACKBONE,
        "adaptation": None,
        "substitute": None,
        "protocol": {
            "scenario": "class-incremental",
            "classes": list("abcdefgh"),
            "n_tasks": n_tasks,
            "order": "paper",
            "seed": seed,
            "averaging": "unweighted mean over tasks",
        },
        "joint": joint,
        "metrics": metrics(rows, joint=joint),
        "accuracy": {"class_incremental": rows, "task_incremental": [_raised(row) for row in rows]},
        "seconds": {"adapt": 0.0, "features": 3.0, "learn": 100 / (101 - level), "solve": 0.5, "predict": 0.2},
        "state_bytes": int(1e6 * (level - 79)),
        "peak_memory_bytes": int(4e8),
        "parts": [{"name": "gram", "numbers": 250_000, "bytes": 1_000_000}],
        "confused": [["a", "b", 6, 30], ["c", "d", 3, 30]],
        "specification": {},
    }
    write_json(folder / "results.json", facts | changes)
    write_json(folder / "environment.json", {"python": "3.11.2", "versions": {"torch": "2.13.0"}, "threads": 1})
    (folder / "spec.toml").write_text("[run]\n")
    return folder


def write_collection(root: Path, titles: Mapping[str, float] = ACCURACIES, seeds: int = 3, **changes: Any) -> Path:
    """Write a run for every title and seed."""
    for title, level in titles.items():
        for seed in range(seeds):
            folder = root / f"{title.replace(' ', '-')}-seed{seed}"
            write_run(folder, title, seed, A_last=level + 0.1 * (seed - 1), **changes)
    return root


def write_json(path: Path, contents: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(contents))


def write_embedding(folder: Path) -> None:
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 20)
    stages = {
        stage: (generator.normal(size=(100, 2)) + apart * np.stack([labels, labels % 2], 1)).round(3).tolist()
        for stage, apart in (("input", 1), ("random", 2), ("projected", 6))
    }
    names = ["apple", "bee", "crab", "drum", "eel"]
    write_json(folder / "embedding.json", {"classes": names, "labels": labels.tolist(), "stages": stages})


def accuracy_rows(level: float, n_tasks: int, seed: int, *, joint: bool) -> list[list[float | None]]:
    """Return rows that fall towards `level`, the mean of the last."""
    tilt = np.random.default_rng(seed).permutation(np.linspace(-1, 1, n_tasks))
    last = [level + value for value in tilt]
    if joint:
        return [last]
    steps = [
        [100 - (100 - level) * (t + 2) / (n_tasks + 1) + tilt[i] * 0.2 for i in range(t + 1)]
        for t in range(n_tasks - 1)
    ]
    return [[*row, *[None] * (n_tasks - len(row))] for row in [*steps, last]]


def metrics(rows: list[list[float | None]], *, joint: bool) -> dict[str, float | None]:
    """Return the metrics that belong to accuracy rows."""
    matrix = np.array(rows, float)
    drop = None if joint else float(np.mean(np.nanmax(matrix[:, :-1], axis=0) - matrix[-1, :-1]))
    transfer = None if joint else float(np.mean(matrix[-1, :-1] - np.diag(matrix)[:-1]))
    return {
        "A_last": float(matrix[-1].mean()),
        "A_avg": None if joint else float(np.nanmean(matrix, axis=1).mean()),
        "forgetting": drop,
        "backward_transfer": transfer,
        "task_incremental_A_last": float(matrix[-1].mean()) + 3,
        "task_incremental_A_avg": None if joint else 97.0,
        "task_incremental_forgetting": drop and drop / 10,
        "task_incremental_backward_transfer": transfer and transfer / 10,
    }


def _raised(row: list[float | None]) -> list[float | None]:
    return [None if value is None else min(value + 3, 100.0) for value in row]
