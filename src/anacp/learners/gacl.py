"""GACL: generalised analytic continual learning (Zhuang et al. 2024), with ACIL (Zhuang et al. 2022) as a setting."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from anacp.catalogue import method
from anacp.learners.constraints import Constraint, count
from anacp.learners.ridge_choice import RidgeChoice
from anacp.learners.ridge_learner import RidgeLearner
from anacp.projections import RandomProjection

# Published for each backbone; texts as images.
SETTINGS = {"dinov2": {"ridge": 1e4}, "mocov3": {"ridge": 1e2}, "minilm": {"ridge": 1e4}}
QUICK = {"n_projected": 1000}


@method("ACIL", parameters={"n_projected": 8192, "ridge": 0.1, "dtype": "float64"}, quick=QUICK, page="gacl")
@method(settings=SETTINGS, quick=QUICK, page="gacl", compared=6)
class GACL(RidgeLearner):
    """Ridge regression on random ReLU features; classes may return at any time.

    Recursive least squares, as published, and the cumulative Gram matrix kept here give the same weights.
    ACIL is `GACL(n_projected=8192, ridge=0.1, dtype="float64")`.

    Parameters
    ----------
    n_projected : int, default=5000
        Random features, D.
    ridge : float or {"gcv", "squared error", "accuracy"}, default=1e4
        λ (published: 1e4 on DINO-v2, 1e2 on MoCo-v3), or how to choose it.
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
    >>> model = anacp.GACL(n_projected=500).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {"n_projected": count()}

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        ridge: RidgeChoice = 1e4,
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
