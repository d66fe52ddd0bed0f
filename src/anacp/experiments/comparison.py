"""Finished runs set side by side: one row for each method and data set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anacp.experiments.results import RunResult


def quickest(runs: Sequence[RunResult]) -> RunResult:
    """Return the run of least time. All seeds do the same work, and other work on the machine can only add."""
    return min(runs, key=lambda run: sum(run.seconds.values()))


@dataclass(frozen=True)
class ComparedMethod:
    """One method's line in the table: means over the seeds, and standard deviations; times of the quickest."""

    method: str
    dataset: str
    n_seeds: int
    a_last: float
    a_last_std: float
    a_avg: float | None  # None for a joint run, which has no course to average over
    a_avg_std: float | None
    update_seconds: float  # learning and solving, all tasks together
    predict_seconds: float
    state_bytes: int
    curve: tuple[float, ...]  # accuracy after each task
    curve_std: tuple[float, ...]


def compared(runs: Sequence[RunResult]) -> list[ComparedMethod]:
    """Return the table: one row for each data set and title, in the order of the runs."""
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for run in runs:
        groups.setdefault((str(run.dataset["name"]), run.title), []).append(run)
    return [_of_seeds(group) for group in groups.values()]


def _of_seeds(runs: Sequence[RunResult]) -> ComparedMethod:
    last = [run.metrics["A_last"] or 0.0 for run in runs]
    average = [run.metrics["A_avg"] for run in runs if run.metrics["A_avg"] is not None]
    curves = np.array([[step.accuracy for step in run.steps] for run in runs])  # (seeds, tasks)
    seconds = quickest(runs).seconds
    return ComparedMethod(
        method=runs[0].title,
        dataset=str(runs[0].dataset["name"]),
        n_seeds=len(runs),
        a_last=float(np.mean(last)),
        a_last_std=float(np.std(last)),
        a_avg=float(np.mean(average)) if average else None,
        a_avg_std=float(np.std(average)) if average else None,
        update_seconds=seconds["learn"] + seconds["solve"],
        predict_seconds=seconds["predict"],
        state_bytes=runs[0].state_bytes,
        curve=tuple(curves.mean(0).tolist()),
        curve_std=tuple(curves.std(0).tolist()),
    )
