"""The heart of every experiment: one method through one scenario, judged after every task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from anacp.datasets import Examples
from anacp.errors import InputError
from anacp.experiments.results import Step
from anacp.experiments.scenario_settings import Domains
from anacp.learners import Learner
from anacp.methods import Method, OnFeatures
from anacp.progress import Report
from anacp.scenarios import Scenario, Task


@dataclass(frozen=True, eq=False)
class Judged:
    """A step, and the labels that it was judged by."""

    step: Step
    expected: NDArray[Any]  # (n,) of the test rows of all tasks seen so far
    predicted: NDArray[Any]  # (n,)


def follow(
    method: Method | Learner[Any],
    train: Examples,
    test: Examples,
    scenario: Scenario,
    *,
    domains: Domains | None = None,
    joint: bool = False,
    done: int = 0,
    report: Report | None = None,
) -> Iterator[Judged]:
    """Learn task after task; after each, score the test rows of all tasks seen so far.

    Parameters
    ----------
    method : Method or Learner
        What learns. A learner gets rows of features.
    train, test : Examples
        What it learns and what it is judged by.
    scenario : Scenario
        Which rows come when.
    domains : pair of arrays, optional
        Of the training and test rows, for a domain-incremental scenario.
    joint : bool
        Learn all tasks at once: one step, judged on all tasks.
    done : int
        How many tasks the method has learned already; they are passed over.
    report : callable, optional
        Called by methods that take long.
    """
    method = OnFeatures(method) if isinstance(method, Learner) else method
    of_train, of_test = domains or (None, None)
    tests = list(scenario.test_tasks(test.labels, of_test))
    for task in tests:
        if not len(task.rows):
            raise InputError(f"Expected test rows for every task, got none for task {task.index + 1}. Use fewer tasks.")
    batches = scenario.tasks(train.labels, of_train)
    stages: Iterator[list[Task]] = (list(group) for _, group in groupby(batches, lambda task: task.stage))
    if joint:
        stages = iter([[Task(0, train.classes, np.arange(len(train)))]])
    known: set[Any] = set()
    for index, stage in enumerate(stages):
        classes = [label for task in stage for label in task.classes.tolist()]
        new = [label for label in dict.fromkeys(classes) if label not in known]
        known |= set(new)
        if index >= done:
            yield _step(method, index, new, stage, tests if joint else tests[: index + 1], train, test, report)


def accuracy_matrix(steps: Sequence[Step], kind: str = "class_incremental") -> NDArray[np.float64]:
    """Return A[t, i], percent; NaN where task i was still to come. A joint run has one row."""
    rows = [getattr(step, kind) for step in steps]
    matrix = np.full((len(rows), len(rows[-1])), np.nan)
    for t, row in enumerate(rows):
        matrix[t, : len(row)] = row
    return matrix


def _step(
    method: Method,
    index: int,
    new: list[Any],
    stage: list[Task],
    seen: list[Task],
    train: Examples,
    test: Examples,
    report: Report | None,
) -> Judged:
    learn = 0.0
    for task in stage:
        examples = train.take(task.rows)
        start = perf_counter()
        method.learn(cast(Sequence[Any], examples.items), examples.labels, report=report)
        learn += perf_counter() - start + method.seconds_before
    start = solved = perf_counter()
    if isinstance(method, OnFeatures):
        method.solve()
        solved = perf_counter()
    judged = test.take(np.concatenate([task.rows for task in seen]))
    scores = method.scores(cast(Sequence[Any], judged.items))  # (n, c)
    predicted = method.classes_[scores.argmax(1)]
    seconds = {"learn": learn, "solve": solved - start, "predict": perf_counter() - solved}
    step = Step(
        task=index,
        classes=tuple(new),
        n_classes=len(method.classes_),
        class_incremental=_accuracies(predicted, judged.labels, seen),
        task_incremental=_accuracies(_masked(scores, method.classes_, seen), judged.labels, seen),
        seconds=seconds,
        state_bytes=sum(part.bytes for part in method.parts()),
    )
    return Judged(step, judged.labels, predicted)


def _masked(scores: NDArray[Any], classes: NDArray[Any], seen: list[Task]) -> NDArray[Any]:
    """Return the best class of each row among those of its own task."""
    chosen = np.empty(len(scores), classes.dtype)
    start = 0
    for task in seen:
        rows = slice(start, start + len(task.rows))
        own = np.isin(classes, task.classes)
        own |= not own.any()  # in a blurry scenario a task's classes may still be unknown
        chosen[rows] = classes[own][scores[rows][:, own].argmax(1)]
        start += len(task.rows)
    return chosen


def _accuracies(predicted: NDArray[Any], expected: NDArray[Any], seen: list[Task]) -> tuple[float, ...]:
    correct = np.split(predicted == expected, np.cumsum([len(task.rows) for task in seen])[:-1])
    return tuple(100 * float(part.mean()) for part in correct)
