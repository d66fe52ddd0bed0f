"""What a run left on disk, read back: `load_runs`. Needs no learner and no torch, so that reports open fast."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import DataFileError, MissingDataError

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "Confused",
    "RunResult",
    "Step",
    "load_runs",
    "quickest",
    "read_run",
    "read_steps",
]

FORMAT, FORMAT_VERSION = "anacp-run", 1
RESULTS, STEPS, ENVIRONMENT, EMBEDDING = "results.json", "steps.jsonl", "environment.json", "embedding.json"
MODEL = "model.anacp"


@dataclass(frozen=True)
class Step:
    """What is known after one task: a line of steps.jsonl."""

    task: int
    classes: tuple[Any, ...]  # labels new in this task
    n_classes: int  # known so far
    class_incremental: tuple[float, ...]  # percent, on each task seen so far
    task_incremental: tuple[float, ...]  # the same, choosing among the task's own classes only
    seconds: Mapping[str, float]  # learn, solve, predict
    state_bytes: int

    @property
    def accuracy(self) -> float:
        """The unweighted mean over the tasks seen so far."""
        return float(np.mean(self.class_incremental))

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Step:
        """Return the step that a line of steps.jsonl states."""
        lists = {name: tuple(stated[name]) for name in ("classes", "class_incremental", "task_incremental")}
        return cls(**{**stated, **lists})


@dataclass(frozen=True)
class Confused:
    """Two classes that the final model mistakes for one another."""

    true: Any
    predicted: Any
    count: int
    n: int  # test rows of the true class


@dataclass(frozen=True, eq=False)
class RunResult:
    """A finished run: the contents of its folder."""

    folder: Path
    title: str  # row name in tables
    method: str
    seed: int
    dataset: Mapping[str, Any]  # name, title, n_train, n_test, n_classes, licence, backbone
    backbone: Mapping[str, Any] | None  # name, fingerprint, pretrained_on, licence
    adaptation: str | None  # name of the recipe
    substitute: Mapping[str, str] | None  # "for" which published result it stands, and a "note"
    protocol: Mapping[str, Any]
    joint: bool
    metrics: Mapping[str, float | None]  # None where it has no meaning: A_avg and forgetting of a joint run
    class_incremental: NDArray[np.float64]  # (steps, tasks) percent; NaN where a task was still to come
    task_incremental: NDArray[np.float64]  # the same, choosing among the task's own classes only
    seconds: Mapping[str, float]  # adapt, features, learn, solve, predict
    state_bytes: int
    peak_memory_bytes: int
    parts: tuple[Mapping[str, Any], ...]  # name, numbers, bytes
    confused: tuple[Confused, ...]  # the worst first
    specification: Mapping[str, Any]
    steps: tuple[Step, ...]

    @cached_property
    def environment(self) -> dict[str, Any]:
        """Versions, threads and machine; empty where the file is gone."""
        path = self.folder / ENVIRONMENT
        return _json(path) if path.is_file() else {}

    @cached_property
    def embedding(self) -> dict[str, Any] | None:
        """The two-dimensional pictures of its features, if the run was asked for them."""
        path = self.folder / EMBEDDING
        return _json(path) if path.is_file() else None

    @property
    def made_by(self) -> Mapping[str, Any]:
        """The backbone of the features: the run's own, or else what the data set came with; empty if unknown."""
        return self.backbone or self.dataset.get("backbone") or {}

    @property
    def model(self) -> Path | None:
        """The file of the final model, if it was kept."""
        path = self.folder / MODEL
        return path if path.is_file() else None


def quickest(runs: Sequence[RunResult]) -> RunResult:
    """Return the run of least time. All seeds do the same work, and other work on the machine can only add."""
    return min(runs, key=lambda run: sum(run.seconds.values()))


def load_runs(paths: str | Path | Iterable[str | Path]) -> list[RunResult]:
    """Return the finished runs in folders (or collections of folders, at any depth), sorted by path, each once.

    Raises
    ------
    MissingDataError
        If there is nothing at a path, or no finished run below it.
    DataFileError
        If results are damaged or written by a newer version.
    """
    found: dict[Path, RunResult] = {}
    for path in [paths] if isinstance(paths, str | Path) else paths:
        root = Path(path)
        if not root.exists():
            raise MissingDataError(f"Expected run folders at {root}, got nothing there. Check the path.")
        files = [root] if root.is_file() else sorted(root.rglob(RESULTS))
        runs = [run for file in files if (run := read_run(file.parent, skip_foreign=root.is_dir())) is not None]
        if not runs:
            raise MissingDataError(
                f"Expected finished runs below {root} (folders with a {RESULTS} of the format {FORMAT}), got none. "
                "Run an experiment there first, or check the path."
            )
        found |= {run.folder.resolve(): run for run in runs}
    return [found[folder] for folder in sorted(found)]


def read_run(folder: str | Path, *, skip_foreign: bool = False) -> RunResult | None:
    """Return the finished run in one folder; None for results of another kind, where these are to be skipped."""
    folder = Path(folder)
    stated = _json(folder / RESULTS)
    if stated.get("format") != FORMAT:
        if skip_foreign:
            return None
        raise DataFileError(f"Expected results of a run ({FORMAT}), got another kind of file: {folder / RESULTS}.")
    if int(stated["format_version"]) > FORMAT_VERSION:
        raise DataFileError(
            f"Expected format version {FORMAT_VERSION} or older, got {stated['format_version']}: {folder / RESULTS}. "
            "Upgrade anacp to read it."
        )
    plain = RunResult.__dataclass_fields__.keys() - {"folder", "steps", "class_incremental", "task_incremental"}
    try:
        fields = {name: stated[name] for name in plain}
        fields |= {kind: np.array(rows, np.float64) for kind, rows in stated["accuracy"].items()}
        fields |= {"parts": tuple(fields["parts"]), "confused": tuple(Confused(*pair) for pair in fields["confused"])}
        return RunResult(folder=folder, steps=tuple(read_steps(folder)), **fields)
    except (KeyError, TypeError, ValueError) as problem:
        raise DataFileError(
            f"Expected the results of a whole run, got a damaged file: {folder / RESULTS} ({problem!r}). Run it again."
        ) from problem


def read_steps(folder: Path) -> list[Step]:
    """Return the steps that were written whole; a line that a crash tore, and what follows it, do not count."""
    path = folder / STEPS
    if not path.is_file():
        return []
    steps = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            steps.append(Step.from_dict(json.loads(line)))
        except (ValueError, TypeError, KeyError):
            break
    return steps


def _json(path: Path) -> dict[str, Any]:
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise MissingDataError(f"Expected {path}, got nothing there. The run has not ended; run it again.") from problem
    except ValueError as problem:
        raise DataFileError(f"Expected JSON in {path}, got a damaged file ({problem}). Run it again.") from problem
    return contents if isinstance(contents, dict) else {}
