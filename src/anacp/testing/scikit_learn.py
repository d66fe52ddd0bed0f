"""scikit-learn's own checks of an estimator."""

import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from anacp.learners import Learner


def scikit_learns_own_checks_pass(learner: Learner[Any]) -> None:
    """A learner is a scikit-learn classifier. In float64, which the tolerances of these checks are made for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(learner, on_skip=None)
