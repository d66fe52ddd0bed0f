"""A weight is a number of rows, a sparse row is a row, and a class is what its examples are called."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from anacp.errors import InputError
from anacp.learners import Learner
from anacp.testing.data import assert_same, blobs
from anacp.testing.refusing import refuses


def a_weight_counts_as_so_many_rows(model: Learner[Any]) -> None:
    """A row of weight 2 is the row given twice, one of weight 0 is not there, learned or unlearned."""
    x, y = blobs(n_rows=30)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = clone(model).partial_fit(x[rows], y[rows])
    weighted = clone(model).partial_fit(x, y, sample_weight=weights)
    assert_same(weighted, repeated, x)
    assert_same(clone(model).fit(x, y, sample_weight=np.ones(len(y))), clone(model).fit(x, y), x)
    gone = (np.arange(len(y)) % 4 == 0) & (weights > 0)
    kept = clone(model).partial_fit(x, y, sample_weight=weights - gone)
    assert_same(weighted.unlearn(x, y, sample_weight=gone), kept, x)
    with refuses(InputError, "at most .* examples of 2"):
        weighted.unlearn(x[:1], [2], sample_weight=[100])
    for bad, message in [(-weights, "at least 0"), (weights[1:], "one sample_weight"), (0 * weights, "above zero")]:
        before = weighted.decision_function(x)
        with refuses(InputError, message):
            weighted.partial_fit(x, y, sample_weight=bad)
        assert_array_equal(weighted.decision_function(x), before)


def parts_of_rows_add_up(model: Learner[Any]) -> None:
    """Weights of any size add and go without a trace, unless the method keeps rows themselves: refused then."""
    x, y = blobs()
    weights = np.random.default_rng(3).uniform(0.1, 2, len(y))
    rows_kept = any(one.counts_whole_rows for one in model._statistics(8, "meta").values())
    if rows_kept:
        with refuses(InputError, "Expected whole numbers as sample_weight"):
            model.partial_fit(x, y, sample_weight=weights)
        assert not model._learned
        return
    whole = clone(model).partial_fit(x, y, sample_weight=weights)
    halves = clone(model).partial_fit(x, y, sample_weight=weights / 2).partial_fit(x, y, sample_weight=weights / 2)
    assert_same(halves, whole, x)
    gone = (y == 3) | (np.arange(len(y)) % 5 == 0)
    kept = clone(model).partial_fit(x[~gone], y[~gone], sample_weight=weights[~gone])
    assert_same(whole.unlearn(x[gone], y[gone], sample_weight=weights[gone]), kept, x)
    whole.unlearn(x[~gone], y[~gone], sample_weight=weights[~gone])
    assert not whole._learned, "expected nothing to be left of no weight"


def sparse_rows_are_rows(model: Learner[Any]) -> None:
    """A sparse matrix gives the model and the answers that its rows give, learned or unlearned."""
    x, y = blobs()
    x = np.where(np.abs(x) < 1, 0, x)
    sparse, few = csr_array(x), slice(0, 9)
    learned = clone(model).partial_fit(sparse, y)
    expected = clone(model).partial_fit(x, y)
    assert_same(learned, expected, x)
    assert_array_equal(learned.predict(sparse), expected.predict(x))
    assert_same(learned.unlearn(sparse[few], y[few]), expected.unlearn(x[few], y[few]), x)


def a_class_is_what_its_examples_are_called(model: Learner[Any]) -> None:
    """Renaming, joining and moving examples gives the model that learned them under those names, or changes nothing."""
    x, y = blobs()
    learned = clone(model).partial_fit(x, y)
    learned.decision_function(x)
    assert_same(clone(model).partial_fit(x, y).rename(1, 9), clone(model).partial_fit(x, np.where(y == 1, 9, y)), x)
    joined = np.where(np.isin(y, [1, 3]), 0, y)
    assert_same(learned.join([1, 3], into=0), clone(model).partial_fit(x, joined), x)
    moved = joined.copy()
    moved[:9] = 7
    assert_same(learned.relabel(x[:9], joined[:9], 7), clone(model).partial_fit(x, moved), x)
    before = learned.decision_function(x)
    with refuses(InputError, "a name that no class has, got 4"):
        learned.rename(0, 4)
    with refuses(InputError, "learned before, got 77"):
        learned.join([77], into=0)
    with refuses(InputError, "kind learned before"):
        learned.rename(0, "zero")
    assert_array_equal(learned.decision_function(x), before)
