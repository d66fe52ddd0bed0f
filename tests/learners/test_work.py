"""What is computed, counted in operations: time depends on the machine, work does not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from torch.utils.flop_counter import FlopCounterMode

import anacp
from anacp.linalg import solve as solving
from tests.conftest import blobs

D, H, C, FEATURES = 600, 2, 60, 8


class Work:
    """Operations of products, and the sizes of what was factored."""

    def __init__(self) -> None:
        self.products = 0
        self.factored: list[int] = []

    @property
    def operations(self) -> float:
        return self.products + sum(size**3 / 3 for size in self.factored)


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    work, factor, solve = Work(), solving._factored_in_place, solving.Factor.solve

    def factored(a: object) -> object:
        work.factored.append(len(a))
        return factor(a)

    def solved(self: solving.Factor, b: object, **options: object) -> object:
        work.products += 2 * self.factor.shape[0] ** 2 * b.shape[1]
        return solve(self, b, **options)

    with monkeypatch.context() as patch, FlopCounterMode(display=False) as counter:
        patch.setattr(solving, "_factored_in_place", factored)
        patch.setattr(solving.Factor, "solve", solved)
        yield work
        work.products += counter.get_total_flops()


def made(**settings: object) -> anacp.AnaCP:
    return anacp.AnaCP(n_projected=D, n_heads=H, **settings)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    return blobs(n_classes=C, n_rows=20)


def work_of(action: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Work:
    with counted(monkeypatch) as work:
        action()
    return work


def test_solving_factors_each_head_and_the_classifier_once(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made().partial_fit(*rows)
    model._knowledge.memory = model._knowledge.memory.absorbed()
    work = work_of(model.solve, monkeypatch)
    assert work.factored == [D] * (H + 1)
    allowed = (H + 1) * (D**3 / 3 + 2 * D**2 * C) + 6 * D**2 * C + 4 * H * D * C * (C + 512 + 64)
    assert work.operations < 1.5 * allowed
    assert not work_of(lambda: model.predict(rows[0][:1]), monkeypatch).factored


def test_replay_in_expectation_does_not_grow_with_the_number_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = blobs(n_classes=C, n_rows=20, n_features=C)
    few, many, drawn = (
        made(n_replay=n, replay=replay).partial_fit(*rows).solve()
        for n, replay in ((10, "expected"), (1000, "expected"), (1000, "sampled"))
    )
    spent = []
    for model in (few, many, drawn):
        model.set_params(classifier_ridge=99.0)  # heads are solved already
        spent.append(work_of(model.solve, monkeypatch).operations)
    assert spent[0] == spent[1]
    assert spent[2] > 20 * spent[1]


@pytest.mark.parametrize("n_more", [1, 10])
def test_examples_more_factor_no_head_again(rows, n_more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows
    model = made().partial_fit(x, y).solve()
    work = work_of(lambda: model.partial_fit(x[:n_more], y[:n_more]).solve(), monkeypatch)
    assert sorted(work.factored) == sorted([n_more] * H + [D])  # the classifier's, and the correction of each head


def test_more_of_few_examples_extend_what_was_factored(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs(n_classes=8, n_rows=60)
    model = made().partial_fit(x[:160], y[:160]).solve()
    for first in range(160, 288, 32):  # up to half the features, where a triangle is made of them
        more = slice(first, first + 32)
        work = work_of(lambda more=more: model.partial_fit(x[more], y[more]).solve(), monkeypatch)
        assert max(work.factored[:H]) <= 128 + 32  # what is turned together with the last ones


def test_a_few_examples_cost_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs(n_classes=3, n_rows=5)
    work = work_of(lambda: made().partial_fit(x, y).predict(x[:1]), monkeypatch)
    assert max(work.factored) < 60
    assert work.operations < D**3 / 3


def test_many_features_of_a_classifier_are_solved_in_parts(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parted = (made().partial_fit(*rows) for _ in range(2))
    factored = work_of(whole.solve, monkeypatch).factored
    monkeypatch.setattr("anacp.learners.anacp.TOGETHER", D // 3)
    assert work_of(parted.solve, monkeypatch).factored == factored[:H] + [D // 3] * 3
    heads = [model._knowledge.solved.solution.heads for model in (whole, parted)]
    assert all(bool((one == other).all()) for one, other in zip(*heads, strict=True))
    x, y = blobs(n_classes=C, n_rows=40)
    assert abs(whole.score(x, y) - parted.score(x, y)) < 0.02


def test_a_row_costs_no_dense_projection(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs(n_classes=5, n_rows=10, n_features=512)
    model = made().partial_fit(x, y).solve()
    model.predict(x[:1])
    work = work_of(lambda: model.predict(x[:10]), monkeypatch)
    assert work.operations <= 1.1 * 10 * (H * 2 * D * (64 + 5 + 8) + 4 * D * 5 + H * 2 * 25)
    dense = anacp.AnaCP(n_projected=D, n_heads=H, projection="gaussian").partial_fit(x, y).solve()
    assert work_of(lambda: dense.predict(x[:10]), monkeypatch).operations > 5 * work.operations
