"""Any number of threads may use one learner."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, combinations
from threading import Barrier
from typing import Any

import numpy as np
from sklearn.base import clone

from anacp.learners import Learner
from anacp.testing.data import TOLERANCE, assert_same, blobs


def threads_see_one_moment_and_lose_nothing(model: Learner[Any]) -> None:
    """Answers beside learning are those of a model that had some whole batches, and no batch is lost."""
    x, y = blobs(n_classes=6)
    batches = [(x[y // 2 == part], y[y // 2 == part]) for part in range(3)]
    model.partial_fit(*batches[0])
    answers: list[tuple[Any, Any]] = []

    def learn(part: int) -> Callable[[], object]:
        return lambda: model.partial_fit(*batches[part])

    def ask() -> None:
        answers.extend(model.classes_and_probabilities(x) for _ in range(3))

    together([ask, learn(1), ask, learn(2), ask, ask, ask, ask])
    moments = [clone(model).fit(*_joined([batches[0], *more])) for more in _subsets(batches[1:])]
    expected = [moment.classes_and_probabilities(x) for moment in moments]
    for classes, probabilities in answers:
        assert any(
            np.array_equal(classes, others) and np.allclose(probabilities, wanted, rtol=0, atol=TOLERANCE[model.dtype])
            for others, wanted in expected
        ), f"expected the answers of one moment, got others for the classes {classes}"
    assert_same(model, clone(model).fit(*_joined(batches)), x)


def together(tasks: Sequence[Callable[[], object]]) -> None:
    """Run every task in a thread of its own, all from the same moment, and raise what one of them raised."""
    ready = Barrier(len(tasks))

    def run(task: Callable[[], object]) -> None:
        ready.wait()
        task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        for done in [pool.submit(run, task) for task in tasks]:
            done.result()


def _subsets(batches: list[Any]) -> list[tuple[Any, ...]]:
    return list(chain.from_iterable(combinations(batches, n) for n in range(len(batches) + 1)))


def _joined(batches: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    return np.concatenate([x for x, _ in batches]), np.concatenate([y for _, y in batches])
