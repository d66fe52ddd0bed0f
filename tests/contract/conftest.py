import pytest
from sklearn.base import clone

from anacp.learners import Learner


@pytest.fixture(params=["float32", "float64"])
def model(learner: Learner, request: pytest.FixtureRequest) -> Learner:
    return clone(learner).set_params(dtype=request.param)
