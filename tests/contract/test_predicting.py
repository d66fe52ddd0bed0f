"""Predictions are finite, of learned classes only, and of bounded cost, whatever was learned."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from anacp.errors import InputError
from anacp.learners import Learner
from tests.conftest import blobs
from tests.contract.every_learner import few_rows, learners

pytestmark = few_rows


@learners
def test_only_learned_classes_are_predicted(learner: Learner) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x[y < 2], y[y < 2], classes=np.arange(5))
    assert set(model.predict(x)) <= {0, 1}
    model.partial_fit(x, y)
    assert set(model.predict(x, classes=[1, 4])) <= {1, 4}
    scores = model.decision_function(x)
    np.testing.assert_array_equal(model.predict(x, classes=[4, 1]), np.array([1, 4])[scores[:, [1, 4]].argmax(1)])
    for bad in ([], [9], ["a"]):
        with pytest.raises(InputError, match="learned before"):
            model.predict(x, classes=bad)


@learners
def test_one_sample_alone(learner: Learner) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x[:1], y[:1])
    assert (model.predict(x) == y[0]).all()
    np.testing.assert_array_equal(model.predict_proba(x), np.ones((len(x), 1)))
    model.partial_fit(x[1:2], [99])
    assert np.isfinite(model.decision_function(x)).all()
    assert model.predict(x[:2]).tolist() == [y[0], 99]


@learners
@pytest.mark.parametrize("case", ["zeros", "constant", "duplicates", "more features than rows", "two equal classes"])
def test_degenerate_features(learner: Learner, case: str) -> None:
    x, y = blobs(n_rows=4, n_features=50 if case == "more features than rows" else 8)
    if case == "zeros":
        x = np.zeros_like(x)
    elif case == "constant":
        x[:, 1:] = 3.0
    elif case == "duplicates":
        x, y = np.repeat(x, 5, axis=0), np.repeat(y, 5)
    elif case == "two equal classes":
        x[y == 1] = x[y == 2]
    model = clone(learner).partial_fit(x, y)
    assert np.isfinite(model.decision_function(x)).all()
    np.testing.assert_allclose(model.predict_proba(x).sum(1), 1, atol=1e-5)


@learners
def test_a_class_with_one_sample_among_others(learner: Learner) -> None:
    x, y = blobs()
    rows = np.concatenate([np.flatnonzero(y != 4), np.flatnonzero(y == 4)[:1]])
    model = clone(learner).partial_fit(x[rows], y[rows])
    assert np.isfinite(model.decision_function(x)).all()
    assert np.isfinite(model.predict_proba(x)).all()
    assert (model.predict(x[y != 4]) == y[y != 4]).mean() > 0.8


@learners
def test_a_thousand_classes_of_three(learner: Learner) -> None:
    x, y = blobs(n_classes=1000, n_rows=3)
    model = clone(learner).partial_fit(x, y)
    scores = model.decision_function(x[:50])
    assert scores.shape == (50, 1000)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(model.predict_proba(x[:50]).sum(1), 1, atol=1e-4)


@learners
def test_prediction_sees_a_bounded_number_of_rows(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x, y).solve()
    sizes: list[int] = []
    scores = type(model)._scores

    def recorded(self: Learner, rows: torch.Tensor, solution: object) -> torch.Tensor:
        sizes.append(len(rows))
        return scores(self, rows, solution)

    monkeypatch.setattr(type(model), "_scores", recorded)
    many = np.repeat(x, 300, axis=0)  # 18,000 rows
    assert len(model.predict(many)) == len(many)
    assert max(sizes) <= 8192
    assert sum(sizes) == len(many)
