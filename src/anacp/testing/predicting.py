"""Predictions are finite, of learned classes only, and of bounded cost, whatever was learned."""

from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from anacp.errors import InputError
from anacp.learners import Learner
from anacp.testing.data import blobs
from anacp.testing.refusing import refuses


def only_learned_classes_are_predicted(learner: Learner[Any]) -> None:
    """Announced classes are not learned ones, and a choice among some classes is the best of these."""
    x, y = blobs()
    model = clone(learner).partial_fit(x[y < 2], y[y < 2], classes=np.arange(5))
    assert set(model.predict(x)) <= {0, 1}
    model.partial_fit(x, y)
    assert set(model.predict(x, classes=[1, 4])) <= {1, 4}
    scores = model.decision_function(x)
    assert_array_equal(model.predict(x, classes=[4, 1]), np.array([1, 4])[scores[:, [1, 4]].argmax(1)])
    for bad in ([], [9], ["a"]):
        with refuses(InputError, "learned before"):
            model.predict(x, classes=bad)


def one_example_is_enough(learner: Learner[Any]) -> None:
    """One example makes a model, and one more of another class tells the two apart."""
    x, y = blobs()
    model = clone(learner).partial_fit(x[:1], y[:1])
    assert (model.predict(x) == y[0]).all()
    assert_array_equal(model.predict_proba(x), np.ones((len(x), 1)))
    model.partial_fit(x[1:2], [99])
    assert np.isfinite(model.decision_function(x)).all()
    assert model.predict(x[:2]).tolist() == [y[0], 99]


def degenerate_features_give_finite_scores(learner: Learner[Any]) -> None:
    """Zeros, constants, duplicates, few rows and equal classes give finite scores and probabilities."""
    x, y = blobs(n_rows=4)
    wide, wide_y = blobs(n_rows=4, n_features=50)
    constant, equal = x.copy(), x.copy()
    constant[:, 1:] = 3.0
    equal[y == 1] = equal[y == 2]
    for features, labels in (
        (np.zeros_like(x), y),
        (constant, y),
        (np.repeat(x, 5, axis=0), np.repeat(y, 5)),
        (wide, wide_y),
        (equal, y),
    ):
        model = clone(learner).partial_fit(features, labels)
        assert np.isfinite(model.decision_function(features)).all()
        assert_allclose(model.predict_proba(features).sum(1), 1, atol=1e-5)


def a_class_of_one_stands_among_others(learner: Learner[Any]) -> None:
    """A class of one example spoils no other."""
    x, y = blobs()
    rows = np.concatenate([np.flatnonzero(y != 4), np.flatnonzero(y == 4)[:1]])
    model = clone(learner).partial_fit(x[rows], y[rows])
    assert np.isfinite(model.decision_function(x)).all()
    assert np.isfinite(model.predict_proba(x)).all()
    assert (model.predict(x[y != 4]) == y[y != 4]).mean() > 0.8


def a_thousand_classes_of_three(learner: Learner[Any]) -> None:
    """Very many small classes give finite scores."""
    x, y = blobs(n_classes=1000, n_rows=3)
    model = clone(learner).partial_fit(x, y)
    scores = model.decision_function(x[:50])
    assert scores.shape == (50, 1000)
    assert np.isfinite(scores).all()
    assert_allclose(model.predict_proba(x[:50]).sum(1), 1, atol=1e-4)


def prediction_sees_a_bounded_number_of_rows(learner: Learner[Any]) -> None:
    """However many rows are asked for, memory is that of a block of them."""
    x, y = blobs()
    model = clone(learner).partial_fit(x, y).solve()
    sizes: list[int] = []
    scores = type(model)._scores

    def recorded(self: Learner[Any], rows: torch.Tensor, solution: Any) -> Any:
        sizes.append(len(rows))
        return scores(self, rows, solution)

    with mock.patch.object(type(model), "_scores", recorded):
        many = np.repeat(x, 300, axis=0)  # 18,000 rows
        assert len(model.predict(many)) == len(many)
    assert max(sizes) <= 8192
    assert sum(sizes) == len(many)
