"""RanPAC: random projections for pre-trained models (McDonnell et al. 2023)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from anacp.catalogue import method
from anacp.learners.constraints import Constraint, count
from anacp.learners.ridge_choice import RidgeChoice
from anacp.learners.ridge_learner import RidgeLearner
from anacp.projections import RandomProjection


@method(quick={"n_projected": 1000}, page="ranpac", compared=8)
class RanPAC(RidgeLearner):
    """Ridge regression on many random ReLU features, with λ chosen on held-out rows.

    As published, λ is the power of ten from 1e-8 to 1e8 with the least squared error on a fifth of the rows after
    fitting the others, and is then used with the Gram matrix of all rows. The published code holds out the end of
    each task; here a hash of the row decides, so that the result does not depend on tasks or batches.

    Parameters
    ----------
    n_projected : int, default=10000
        Random features, D.
    ridge : float or {"gcv", "squared error", "accuracy"}, default="squared error"
        λ, or how to choose it. The choice is `ridge_`.
    random_state : int, default=0
        Seed of the projection, and of the draws that calibrate `predict_proba`.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of projection, Gram matrix and scores.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.RanPAC(n_projected=500).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {"n_projected": count()}

    def __init__(
        self,
        *,
        n_projected: int = 10_000,
        ridge: RidgeChoice = "squared error",
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.ridge = ridge
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _features(self, n_features: int) -> RandomProjection:
        return self._random_features(n_features, self.n_projected)
