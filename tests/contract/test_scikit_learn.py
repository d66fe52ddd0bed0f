"""scikit-learn's own checks of an estimator."""

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from anacp.learners import Learner
from tests.contract.every_learner import every_learner, few_rows

pytestmark = few_rows


# In float64, which the tolerances of these checks are made for: in float32 a row's last digit depends on its place.
@parametrize_with_checks([clone(learner).set_params(dtype="float64") for learner in every_learner()])
def test_scikit_learn(estimator: Learner, check: object) -> None:
    check(estimator)
