"""What was learned depends on the data alone: not on batches, order, merging, or what was unlearned again."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from anacp.errors import InputError, NotLearnedError
from anacp.learners import Learner
from tests.conftest import blobs
from tests.contract.every_learner import few_rows, learners, same

pytestmark = few_rows


@learners
def test_learns(model: Learner) -> None:
    x, y = blobs(n_rows=30)
    assert (model.fit(x, y).predict(x) == y).mean() > 0.9


@learners
@pytest.mark.parametrize("batch", [1, 7, 59])
def test_split_and_order_leave_no_trace(model: Learner, batch: int) -> None:
    x, y = blobs()
    whole, parts = clone(model).partial_fit(x, y), model
    for rows in np.array_split(np.random.default_rng(1).permutation(len(x)), -(-len(x) // batch)):
        parts.partial_fit(x[rows], y[rows])
    same(parts, whole, x)


@learners
def test_predicting_in_between_leaves_no_trace(model: Learner) -> None:
    x, y = blobs()
    whole, parts = clone(model).partial_fit(x, y), model
    for c in (4, 1, 3, 0, 2):  # one class alone at first, then one by one, not in order
        parts.partial_fit(x[y == c], y[y == c])
        assert set(parts.predict(x)) <= set(parts.classes_)
    same(parts, whole, x)


@learners
def test_more_rows_than_a_block(model: Learner) -> None:
    x, y = blobs(n_rows=450)
    same(clone(model).partial_fit(x, y), model.partial_fit(x[:700], y[:700]).partial_fit(x[700:], y[700:]), x[:50])


@learners
def test_merge(model: Learner) -> None:
    x, y = blobs(n_classes=6)
    first, second = y < 3, y >= 2  # class 2 is known to both
    half = np.arange(len(y)) % 2 == 0
    first, second = first & (half | (y < 2)), second & (~half | (y > 2))
    a, b = clone(model).partial_fit(x[first], y[first]), clone(model).partial_fit(x[second], y[second])
    whole = model.partial_fit(x, y)
    before = a.decision_function(x)
    same(a + b, whole, x)
    same(sum([b, a]), whole, x)
    same((a + b).partial_fit(x[:5], y[:5]), clone(model).partial_fit(x, y).partial_fit(x[:5], y[:5]), x)
    np.testing.assert_array_equal(a.decision_function(x), before)
    same(a + clone(model), a, x)


@learners
def test_unlearn(model: Learner) -> None:
    x, y = blobs()
    gone = (y == 3) | (np.arange(len(y)) % 5 == 0)
    kept = clone(model).partial_fit(x[~gone], y[~gone])
    model.partial_fit(x, y)
    model.decision_function(x)
    same(model.unlearn(x[gone], y[gone]), kept, x)
    assert 3 not in model.classes_
    model.unlearn(x[~gone], y[~gone])
    with pytest.raises(NotLearnedError):
        model.predict(x)
    same(model.partial_fit(x, y), clone(model).partial_fit(x, y), x)


@learners
def test_unlearn_refuses_what_was_not_learned(model: Learner) -> None:
    x, y = blobs()
    model.partial_fit(x, y)
    before = model.decision_function(x)
    with pytest.raises(InputError, match="learned before, got 77"):
        model.unlearn(x[:1], [77])
    with pytest.raises(InputError, match="at most 12 examples of 2"):
        model.unlearn(np.repeat(x[:1], 13, axis=0), [2] * 13)
    np.testing.assert_array_equal(model.decision_function(x), before)


@learners
def test_seed_decides_everything(learner: Learner) -> None:
    x, y = blobs()
    first = clone(learner).partial_fit(x, y).predict_proba(x)
    torch.manual_seed(123)
    np.testing.assert_array_equal(clone(learner).partial_fit(x, y).predict_proba(x), first)
