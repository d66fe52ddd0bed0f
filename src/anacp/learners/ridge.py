"""Ridge: linear ridge regression on the features; in closed form, one class after another equals all at once."""

from typing import Literal

from anacp.catalogue import method
from anacp.learners.ridge_choice import RidgeChoice
from anacp.learners.ridge_learner import RidgeLearner
from anacp.projections import Affine


@method(page="ridge", compared=11)
class Ridge(RidgeLearner):
    """Linear ridge regression with an intercept: the joint upper bound of closed-form linear learning.

    Parameters
    ----------
    ridge : float or {"gcv", "squared error", "accuracy"}, default="gcv"
        λ, or how to choose it. The choice is `ridge_`.
    random_state : int, default=0
        Seed of the draws that calibrate `predict_proba`; nothing else is random.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of Gram matrix and scores.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.Ridge().partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    def __init__(
        self,
        *,
        ridge: RidgeChoice = "gcv",
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.ridge = ridge
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _features(self, n_features: int) -> Affine:
        return Affine(n_features)
