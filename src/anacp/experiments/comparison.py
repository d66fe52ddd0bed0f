"""Several methods over the same task streams, run after run; what is finished is kept and not run again."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anacp.atomic import replacing
from anacp.datasets import Dataset
from anacp.errors import InputError
from anacp.evaluation import average_incremental_accuracy, last_accuracy
from anacp.experiments.runner import Step, accuracy_matrix, run
from anacp.learners import Learner
from anacp.learners.presets import method, method_name
from anacp.scenarios import ClassIncremental
from anacp.version import __version__

__all__ = ["Progress", "Row", "Run", "compare", "rows"]


@dataclass(frozen=True)
class Run:
    """One method over one task stream."""

    method: str
    seed: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Progress:
    """What just happened: a step of a run, the last of which carries the run itself."""

    method: str
    seed: int
    step: Step
    finished: Run | None
    reused: bool  # read from disk instead of run


@dataclass(frozen=True)
class Row:
    """One method's line in the table: means over the seeds, and standard deviations."""

    method: str
    n_seeds: int
    a_last: float
    a_last_std: float
    a_avg: float
    a_avg_std: float
    update_seconds: float  # learning and solving, all tasks together
    predict_seconds: float
    state_bytes: int
    curve: tuple[float, ...]  # accuracy after each task
    curve_std: tuple[float, ...]


def compare(
    data: Dataset, methods: Sequence[str], seeds: Sequence[int], folder: Path, *, n_tasks: int = 10
) -> Iterator[Progress]:
    """Run every method with every seed; a seed orders the classes and seeds the learner.

    Each finished run is written to `folder`/runs at once. A run found there that was made from the same data, method,
    parameters, scenario and version is read instead of run.
    """
    if not isinstance(data.train.items, np.ndarray):
        raise InputError(
            f"Expected features, got {data.modality}s ({data.name}). Extract their features first and give the file."
        )
    names = [method_name(name) for name in methods]
    learners = {(name, seed): method(name, random_state=seed) for seed in seeds for name in names}
    fingerprint = _fingerprint(data)
    for (name, seed), learner in learners.items():
        scenario = ClassIncremental(data.train.labels, n_tasks=n_tasks, seed=seed)
        specification = {
            "data": data.name,
            "fingerprint": fingerprint,
            "method": name,
            "learner": type(learner).__name__,
            "parameters": learner.get_params(),
            "scenario": scenario.describe(),
            "version": __version__,
        }
        path = folder / "runs" / f"{name}-seed{seed}.json"
        yield from _one(name, seed, learner, data, scenario, specification, path)


def rows(runs: Sequence[Run]) -> list[Row]:
    """Return the table: one row a method, in the order of the runs."""
    return [_row([run for run in runs if run.method == name]) for name in dict.fromkeys(run.method for run in runs)]


def _one(
    name: str,
    seed: int,
    learner: Learner,
    data: Dataset,
    scenario: ClassIncremental,
    specification: dict[str, Any],
    path: Path,
) -> Iterator[Progress]:
    kept = _kept(path, specification)
    steps: list[Step] = []
    for step in kept or run(learner, data, scenario):
        steps.append(step)
        finished = Run(name, seed, tuple(steps)) if len(steps) == scenario.n_tasks else None
        if finished and not kept:
            contents = {"specification": specification, "steps": [asdict(step) for step in steps]}
            with replacing(path) as temporary:
                temporary.write_text(json.dumps(contents, indent=1))
        yield Progress(name, seed, step, finished, reused=bool(kept))


def _kept(path: Path, specification: dict[str, Any]) -> list[Step]:
    if not path.is_file():
        return []
    contents = json.loads(path.read_text())
    if contents["specification"] != json.loads(json.dumps(specification)):
        return []
    return [Step(**step | {"accuracies": tuple(step["accuracies"])}) for step in contents["steps"]]


def _row(runs: Sequence[Run]) -> Row:
    matrices = [accuracy_matrix(run.steps) for run in runs]
    last = [last_accuracy(matrix) for matrix in matrices]
    average = [average_incremental_accuracy(matrix) for matrix in matrices]
    curves = np.array([[step.accuracy for step in run.steps] for run in runs])  # (seeds, tasks)
    update = [sum(step.learn_seconds + step.solve_seconds for step in run.steps) for run in runs]
    predict = [sum(step.predict_seconds for step in run.steps) for run in runs]
    return Row(
        method=runs[0].method,
        n_seeds=len(runs),
        a_last=float(np.mean(last)),
        a_last_std=float(np.std(last)),
        a_avg=float(np.mean(average)),
        a_avg_std=float(np.std(average)),
        update_seconds=float(np.mean(update)),
        predict_seconds=float(np.mean(predict)),
        state_bytes=runs[0].steps[-1].stored_bytes,
        curve=tuple(curves.mean(0).tolist()),
        curve_std=tuple(curves.std(0).tolist()),
    )


def _fingerprint(data: Dataset) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for examples in (data.train, data.test):
        digest.update(np.ascontiguousarray(examples.items).tobytes())
        digest.update("\n".join(map(str, examples.labels.tolist())).encode())
    return digest.hexdigest()
