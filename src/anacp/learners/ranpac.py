"""RanPAC: random projections for pre-trained models (McDonnell et al. 2023)."""

from typing import Literal

from anacp.learners.registry import register
from anacp.learners.ridge_choice import Ridge
from anacp.learners.ridge_learner import RandomRidgeLearner

__all__ = ["RanPAC"]


@register
class RanPAC(RandomRidgeLearner):
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
    """

    def __init__(
        self,
        *,
        n_projected: int = 10_000,
        ridge: Ridge = "squared error",
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.ridge = ridge
        self.random_state = random_state
        self.device = device
        self.dtype = dtype
