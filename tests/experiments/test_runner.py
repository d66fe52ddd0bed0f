"""The protocol: which classes come when, and what is measured."""

import random

import numpy as np
import pytest

import anacp
from anacp.errors import ParameterError
from anacp.experiments import accuracy_matrix, follow
from anacp.scenarios import ClassIncremental
from tests.conftest import blobs, features_dataset


def test_class_order_is_the_papers() -> None:
    classes = [f"class {i:03}" for i in range(23)]
    shuffled = sorted(classes)
    state = random.getstate()
    random.seed(2)
    random.shuffle(shuffled)
    random.setstate(state)
    tasks = list(ClassIncremental(classes[::-1] * 2, n_tasks=10, seed=2))
    assert [list(task.classes) for task in tasks] == [shuffled[i::10] for i in range(10)]
    assert random.getstate() == state
    assert {len(task.classes) for task in tasks} == {2, 3}


@pytest.mark.parametrize("n_tasks", [0, 24])
def test_impossible_numbers_of_tasks(n_tasks: int) -> None:
    with pytest.raises(ParameterError, match="between 1 and 23 tasks"):
        ClassIncremental(range(23), n_tasks=n_tasks)


def test_runner_measures_what_was_seen() -> None:
    x, y = blobs(n_classes=7, n_rows=20)
    data = features_dataset(x[:100].astype(np.float32), y[:100], x[100:].astype(np.float32), y[100:])
    model = anacp.NCM()
    steps = [judged.step for judged in follow(model, data.train, data.test, ClassIncremental(y, n_tasks=3))]
    assert [step.n_classes for step in steps] == [3, 5, 7]
    matrix = accuracy_matrix(steps)
    assert np.isnan(matrix[np.triu_indices(3, 1)]).all()
    task = list(ClassIncremental(y, n_tasks=3))[1]
    test = data.test.take(np.isin(data.test.labels, task.classes))
    assert matrix[2, 1] == pytest.approx(100 * (model.predict(test.items) == test.labels).mean())
    assert steps[-1].accuracy == pytest.approx(matrix[2].mean())
    assert steps[-1].state_bytes == sum(part.bytes for part in model.parts())
