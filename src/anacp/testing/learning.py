"""What was learned depends on the data alone: not on batches, order, merging, or what was unlearned again."""

from typing import Any

import numpy as np
import torch
from numpy.testing import assert_array_equal
from sklearn.base import clone

from anacp.errors import InputError, NotLearnedError
from anacp.learners import WAITING_ROWS, Learner
from anacp.testing.data import assert_same, blobs
from anacp.testing.refusing import refuses


def learns(model: Learner[Any]) -> None:
    """Classes that hardly overlap are told apart."""
    x, y = blobs(n_rows=30)
    accuracy = (model.fit(x, y).predict(x) == y).mean()
    assert accuracy > 0.9, f"expected more than 90 % of easy rows right, got {100 * accuracy:.0f} %"


def split_and_order_leave_no_trace(model: Learner[Any]) -> None:
    """Any batches in any order give the same model."""
    x, y = blobs()
    whole = clone(model).partial_fit(x, y)
    for batch in (1, 7, 59):
        parts = clone(model)
        for rows in np.array_split(np.random.default_rng(1).permutation(len(x)), -(-len(x) // batch)):
            parts.partial_fit(x[rows], y[rows])
        assert_same(parts, whole, x)


def predicting_in_between_leaves_no_trace(model: Learner[Any]) -> None:
    """Classes that come one by one, with a prediction after each, give the same model."""
    x, y = blobs()
    whole, parts = clone(model).partial_fit(x, y), model
    for c in (4, 1, 3, 0, 2):
        parts.partial_fit(x[y == c], y[y == c])
        assert set(parts.predict(x)) <= set(parts.classes_)
    assert_same(parts, whole, x)


def more_rows_than_wait_are_the_same_rows(model: Learner[Any]) -> None:
    """Rows that enter the statistics in several blocks count as those that enter in one."""
    x, y = blobs(n_rows=WAITING_ROWS // 5 + 60)
    few = slice(0, 700)
    cut = WAITING_ROWS - 100
    model.partial_fit(x[:cut], y[:cut]).partial_fit(x[cut:], y[cut:])
    whole = clone(model).partial_fit(x, y)
    assert_array_equal([part.numbers for part in model.parts()], [part.numbers for part in whole.parts()])
    assert_same(clone(model).partial_fit(x[few], y[few]), clone(model).fit(x[few], y[few]), x[:50])
    if not any(part.name == "rows rows" for part in model.parts()):  # all rows kept: solved from them, slowly
        assert_same(model, whole, x[:50])


def merging_is_learning_both(model: Learner[Any]) -> None:
    """The sum of two models is the one that learned the data of both, and neither changes."""
    x, y = blobs(n_classes=6)
    half = np.arange(len(y)) % 2 == 0
    first, second = (y < 3) & (half | (y < 2)), (y >= 2) & (~half | (y > 2))  # class 2 is known to both
    a, b = clone(model).partial_fit(x[first], y[first]), clone(model).partial_fit(x[second], y[second])
    whole = model.partial_fit(x, y)
    before = a.decision_function(x)
    assert_same(a + b, whole, x)
    assert_same(sum([b, a]), whole, x)
    assert_same((a + b).partial_fit(x[:5], y[:5]), clone(model).partial_fit(x, y).partial_fit(x[:5], y[:5]), x)
    assert_array_equal(a.decision_function(x), before)
    assert_same(a + clone(model), a, x)


def unlearning_is_never_having_learned(model: Learner[Any]) -> None:
    """Examples and whole classes go without a trace, down to nothing."""
    x, y = blobs()
    gone = (y == 3) | (np.arange(len(y)) % 5 == 0)
    kept = clone(model).partial_fit(x[~gone], y[~gone])
    model.partial_fit(x, y).decision_function(x)
    assert_same(model.unlearn(x[gone], y[gone]), kept, x)
    assert 3 not in model.classes_
    model.unlearn(x[~gone], y[~gone])
    with refuses(NotLearnedError, "learned nothing yet"):
        model.predict(x)
    assert_same(model.partial_fit(x, y), clone(model).partial_fit(x, y), x)


def what_was_not_learned_cannot_be_unlearned(model: Learner[Any]) -> None:
    """A class that is unknown, or more examples than there were, are refused, and nothing changes."""
    x, y = blobs()
    model.partial_fit(x, y)
    before = model.decision_function(x)
    with refuses(InputError, "learned before, got 77"):
        model.unlearn(x[:1], [77])
    with refuses(InputError, "at most 12 examples of 2"):
        model.unlearn(np.repeat(x[:1], 13, axis=0), [2] * 13)
    assert_array_equal(model.decision_function(x), before)


def the_seed_decides_everything(model: Learner[Any]) -> None:
    """The global random state decides nothing."""
    x, y = blobs()
    first = clone(model).partial_fit(x, y).predict_proba(x)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(123)
        assert_array_equal(clone(model).partial_fit(x, y).predict_proba(x), first)
