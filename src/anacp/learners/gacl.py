"""GACL: generalised analytic continual learning (Zhuang et al. 2024), with ACIL (Zhuang et al. 2022) as a setting."""

from typing import Literal

from anacp.learners.registry import register
from anacp.learners.ridge_choice import Ridge
from anacp.learners.ridge_learner import RandomRidgeLearner

__all__ = ["GACL"]


@register
class GACL(RandomRidgeLearner):
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
    """

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        ridge: Ridge = 1e4,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.ridge = ridge
        self.random_state = random_state
        self.device = device
        self.dtype = dtype
