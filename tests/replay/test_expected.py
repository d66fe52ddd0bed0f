"""Replay in expectation is what very many draws tend to."""

import numpy as np
import pytest
import torch

from anacp import AnaCP
from anacp.projections import ACTIVATIONS
from anacp.replay import Readout, adapted_gaussians, expected_gram, sampled_gram
from anacp.statistics import ClassGram
from tests.conftest import blobs


def parts(n_classes: int, activation: str = "gelu", normalize: bool = True, n_projected: int = 150):
    """The moments, the contrastive projection and the readout of a small model."""
    x, y = blobs(n_classes=n_classes, n_rows=30)
    settings = {"n_projected": n_projected, "n_heads": 2, "ridge": 10.0, "dtype": "float64"}
    model = AnaCP(activation=activation, normalize=normalize or "inputs", **settings).partial_fit(x, y)
    solution = model.solve()._knowledge.solved.solution
    return model._knowledge.memory.moments, model._contrastive(solution), Readout(solution.readout, activation)


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).norm() / other.norm())


def many_draws(moments, projection, readout, *, n_replay: int) -> ClassGram:
    return sampled_gram(moments, projection, readout, n_replay=n_replay, seed=3)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_it_is_what_many_draws_tend_to(activation: str, normalize: bool) -> None:
    moments, projection, readout = parts(6, activation, normalize)
    drawn = many_draws(moments, projection, readout, n_replay=4000)
    expected = expected_gram(adapted_gaussians(moments, projection, seed=0), readout, n_replay=4000)
    few = many_draws(moments, projection, readout, n_replay=100)
    exact, guess = drawn.gram.symmetric() / 4000, expected.gram.symmetric() / 4000
    assert distance(guess, exact) < 0.04
    assert distance(guess, exact) < distance(few.gram.symmetric() / 100, exact)  # better than the paper's R = 100
    assert distance(expected.sums, drawn.sums) < 0.02


def test_few_classes_and_many_are_the_same_formula() -> None:
    """Up to some classes the matrix is kept as directions; its numbers are those of the triangle."""
    moments, projection, readout = parts(6, n_projected=150)
    directions = expected_gram(adapted_gaussians(moments, projection, seed=0), readout, n_replay=50)
    assert directions.triangle is None
    narrow = Readout(readout.matrix[:, :40], readout.activation)
    triangle = expected_gram(adapted_gaussians(moments, projection, seed=0), narrow, n_replay=50)
    assert triangle.triangle is not None
    torch.testing.assert_close(directions.gram.symmetric()[:40, :40], triangle.gram.symmetric())
    torch.testing.assert_close(directions.sums[:, :40], triangle.sums)
    assert directions.n == triangle.n == 6 * 50


@pytest.mark.parametrize("normalize", [True, False])
def test_coefficients_have_the_mean_and_covariance_of_draws(normalize: bool) -> None:
    moments, projection, _ = parts(5, normalize=normalize)
    adapted = adapted_gaussians(moments, projection, seed=0)
    identity = Readout(torch.eye(5, dtype=torch.float64), "identity")
    drawn = many_draws(moments, projection, identity, n_replay=20_000)
    means = drawn.sums / 20_000
    within = drawn.gram.symmetric() / 100_000 - means.mT @ means / 5
    assert distance(adapted.means, means) < 0.02
    assert distance(adapted.root.mT @ adapted.root, within) < 0.15


def test_nothing_depends_on_the_order_of_classes_or_rows() -> None:
    x, y = blobs(n_classes=6, n_rows=20)
    settings = {"n_projected": 100, "dtype": "float64"}
    whole = AnaCP(**settings).partial_fit(x, y)
    parts = AnaCP(**settings)
    for c in (5, 2, 0, 4, 1, 3):
        parts.partial_fit(x[y == c][::-1], y[y == c][::-1])
        parts.predict(x[:2])  # solved on the way
    np.testing.assert_allclose(parts.scores(x), whole.scores(x), rtol=1e-8, atol=1e-9)


def test_one_covariance_a_class_is_drawn_from() -> None:
    x, y = blobs(n_classes=4, n_rows=20)
    drawn, expected = (
        AnaCP(n_projected=60, covariance="class", replay=replay).partial_fit(x, y) for replay in ("sampled", "expected")
    )
    np.testing.assert_array_equal(drawn.scores(x), expected.scores(x))


def test_parts_of_a_classifier_are_classifiers_whose_mean_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anacp.learners.anacp.TOGETHER", 40)
    x, y = blobs(n_classes=8, n_rows=20)
    model = AnaCP(n_projected=100, n_heads=2, dtype="float64").partial_fit(x, y).solve()
    solution, memory = model._knowledge.solved.solution, model._knowledge.memory
    adapted = adapted_gaussians(memory.moments, model._contrastive(solution), seed=0)
    for columns in (slice(0, 34), slice(34, 67), slice(67, 100)):
        part = Readout(solution.readout[:, columns], "gelu")
        alone = expected_gram(adapted, part, n_replay=100).solve(ridge=part.n_outputs)  # λ = 100 of 100 features
        torch.testing.assert_close(3 * solution.weights[columns], alone)
