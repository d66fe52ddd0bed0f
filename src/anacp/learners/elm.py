"""ELM: an extreme learning machine (Huang et al. 2006), ridge regression on random features."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from torch import Tensor

from anacp.catalogue import method
from anacp.learners.constraints import Constraint, choice, count
from anacp.learners.ridge_choice import RidgeChoice
from anacp.learners.ridge_learner import RidgeLearner
from anacp.linalg import unit_rows
from anacp.projections import ACTIVATIONS, Activation, RandomProjection


@method(quick={"n_projected": 1000}, page="elm", compared=7)
class ELM(RidgeLearner):
    """Ridge regression on random features of the normalised input: AnaCP without its contrastive projection.

    Parameters
    ----------
    n_projected : int, default=5000
        Random features, D.
    ridge : float or {"gcv", "squared error", "accuracy"}, default=100.0
        λ, or how to choose it.
    activation : {"gelu", "relu", "tanh", "identity"}, default="gelu"
        φ.
    normalize : bool, default=True
        Scale inputs to length one.
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
    >>> model = anacp.ELM(n_projected=500).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_projected": count(),
        "activation": choice(*ACTIVATIONS),
        "normalize": choice(True, False),
    }

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        ridge: RidgeChoice = 100.0,
        activation: Activation = "gelu",
        normalize: bool = True,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.ridge = ridge
        self.activation = activation
        self.normalize = normalize
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _features(self, n_features: int) -> RandomProjection:
        return self._random_features(n_features, self.n_projected, self.activation)

    def _prepare(self, x: Tensor) -> Tensor:
        return unit_rows(x) if self.normalize else x
