"""Small problems, and what it means that two learners are the same."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from anacp.learners import Learner

TOLERANCE = {"float32": 2e-3, "float64": 1e-9}


def blobs(
    n_classes: int = 5, n_rows: int = 12, n_features: int = 8, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return Gaussian classes that overlap a little, in random order."""
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.repeat(np.arange(n_classes), n_rows))
    means = generator.normal(size=(n_classes, n_features)) * 2
    return means[y] + generator.normal(size=(len(y), n_features)), y


def assert_same(one: Learner[Any], other: Learner[Any], x: NDArray[Any]) -> None:
    """Fail unless two learners know the same classes and give the same scores and probabilities."""
    assert_array_equal(one.classes_, other.classes_)
    tolerance = TOLERANCE[one.dtype]
    assert_allclose(one.decision_function(x), other.decision_function(x), atol=tolerance, rtol=1e-7)
    assert_allclose(one.predict_proba(x), other.predict_proba(x), atol=tolerance, rtol=1e-7)
