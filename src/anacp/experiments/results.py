"""What runs left on disk, read back. Needs no learner and no torch, so that reports open fast."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import DataFileError, MissingDataError
from anacp.files import MAX_TABLE, parse_json, read_json, read_regular
from anacp.paper import Cell

FORMAT, FORMAT_VERSION = "anacp-run", 1
RESULTS, STEPS, ENVIRONMENT, EMBEDDING = "results.json", "steps.jsonl", "environment.json", "embedding.json"
MODEL, SPECIFICATION = "model.anacp", "spec.toml"
SINCE: dict[str, Any] = {"parameters": {}, "paper": None, "quick": False}  # what the first results did not state


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
    parameters: Mapping[str, Any]  # all that were run, defaults included; empty where an older version did not say
    paper: Cell | None  # what it stands for in the paper
    quick: bool  # run to show the shape of a table, not its numbers
    substitute: Mapping[str, str] | None  # words to be shown: "for" which published result it stands, and a "note"
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


class _ForeignResultsError(DataFileError):
    """Results of another kind: other commands also write a results.json."""


@dataclass(frozen=True)
class LeftOut:
    """A folder that a collection leaves out, and the reason."""

    folder: Path
    reason: str


def load_runs(paths: str | Path | Iterable[str | Path], *, left_out: list[LeftOut] | None = None) -> list[RunResult]:
    """Return the finished runs in and below folders, each once, in the order of the folders and of their paths.

    `left_out` takes note of unfinished and damaged runs: damage then costs that run, not everything.

    Raises
    ------
    MissingDataError
        If there is nothing at a path, or no finished run below any.
    DataFileError
        If results are damaged or written by a newer version, and `left_out` is not given.
    """
    roots = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if nowhere := [root for root in roots if not root.exists()]:
        raise MissingDataError(f"Expected a folder of runs at {nowhere[0]}, got nothing there. Check the path.")
    found = [[root] if root.is_file() else [*root.rglob(RESULTS), *root.rglob(SPECIFICATION)] for root in roots]
    folders = {file.parent.resolve(): file.parent for files in found for file in sorted(files)}
    runs, noted = [], [] if left_out is None else left_out
    for folder in folders.values():
        try:
            runs.append(read_run(folder))
        except MissingDataError:
            done = len(read_steps(folder))
            noted.append(LeftOut(folder, f"unfinished, {done} tasks done; `anacp run` on its {SPECIFICATION} goes on"))
        except _ForeignResultsError:
            continue
        except DataFileError as problem:
            if left_out is None:
                raise
            noted.append(LeftOut(folder, str(problem)))
    if not runs:
        reasons = "".join(f"\n  {entry.folder}: {entry.reason}" for entry in noted)
        raise MissingDataError(
            f"Expected finished runs (folders with a {RESULTS}) in {', '.join(map(str, roots)) or 'a folder'}, "
            f"got none. Make some with `anacp run`, or check the path.{reasons}"
        )
    return runs


def read_run(folder: str | Path) -> RunResult:
    """Return the finished run in one folder."""
    folder = Path(folder)
    stated = _json(folder / RESULTS)
    if stated.get("format") != FORMAT:
        raise _ForeignResultsError(
            f"Expected results of a run ({FORMAT}), got another kind of file: {folder / RESULTS}."
        )
    version = stated.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise DataFileError(
            f"Expected format version {FORMAT_VERSION} or older, got {version}: {folder / RESULTS}. "
            "Upgrade anacp to read it."
        )
    plain = RunResult.__dataclass_fields__.keys() - {"folder", "steps", "class_incremental", "task_incremental"}
    try:
        fields = {name: ({**SINCE, **stated})[name] for name in plain}
        fields["paper"] = None if fields["paper"] is None else Cell(**fields["paper"])
        fields |= {kind: np.array(rows, np.float64) for kind, rows in stated["accuracy"].items()}
        fields |= {"parts": tuple(fields["parts"]), "confused": tuple(Confused(*pair) for pair in fields["confused"])}
        return RunResult(folder=folder, steps=tuple(read_steps(folder)), **fields)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise DataFileError(
            f"Expected the results of a whole run, got a damaged file: {folder / RESULTS} ({problem!r}). Run it again."
        ) from problem


def read_steps(folder: Path) -> list[Step]:
    """Return the steps that were written whole; a line that a crash tore, and what follows it, do not count."""
    path = folder / STEPS
    if not path.is_file():
        return []
    steps = []
    for line in read_regular(path, MAX_TABLE).splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            steps.append(Step.from_dict(parse_json(line)))
        except (ValueError, TypeError, KeyError, AttributeError):
            break
    return steps


def _json(path: Path) -> dict[str, Any]:
    try:
        contents = read_json(path)
    except FileNotFoundError as problem:
        raise MissingDataError(f"Expected {path}, got nothing there. The run has not ended; run it again.") from problem
    return contents if isinstance(contents, dict) else {}
