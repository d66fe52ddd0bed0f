"""ELM: an extreme learning machine (Huang et al. 2006), ridge regression on random features."""

from typing import Literal

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.learners.registry import register
from anacp.learners.ridge_choice import Ridge
from anacp.learners.ridge_learner import RandomRidgeLearner
from anacp.projections import ACTIVATIONS, Activation

__all__ = ["ELM"]


@register
class ELM(RandomRidgeLearner):
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
    """

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        ridge: Ridge = 100.0,
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect_choice("activation", *ACTIVATIONS)

    def _prepare(self, x: Tensor) -> Tensor:
        return F.normalize(x, dim=1) if self.normalize else x
