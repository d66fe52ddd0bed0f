"""SLDA: streaming linear discriminant analysis (Hayes and Kanan, 2020)."""

from typing import Literal

from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.registry import register
from anacp.learners.solved import Solution
from anacp.linalg import solve_psd
from anacp.statistics import ClassMoments, Statistic

__all__ = ["SLDA"]


@register
class SLDA(Learner):
    """Gaussian classes with one covariance: the linear discriminant xᵀΛμ_c - ½ μ_cᵀΛμ_c.

    Parameters
    ----------
    shrinkage : float, default=1e-4
        ε, what is added to the diagonal of the covariance Σ before it is inverted.
    blend : bool, default=False
        Λ = ((1 - ε)Σ + εI)⁻¹ with Σ = scatter / N, as first published, instead of (scatter / (N - C) + εI)⁻¹.
    random_state : int, default=0
        Seed of the draws that calibrate `predict_proba`; nothing else is random.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the scores; the covariance is kept and inverted in float64.
    """

    _solve_parameters = frozenset({"shrinkage", "blend"})

    def __init__(
        self,
        *,
        shrinkage: float = 1e-4,
        blend: bool = False,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.shrinkage = shrinkage
        self.blend = blend
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect("shrinkage", self.shrinkage > 0, "a positive number")

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        return {"moments": ClassMoments(n_features, spread="shared", device=device)}

    def _solve(self) -> Solution:
        moments = self._memory.moments
        freedom = moments.n if self.blend else max(moments.n - moments.n_classes, 1)
        covariance = moments.scatter * ((1 - self.shrinkage if self.blend else 1.0) / freedom)
        weights = solve_psd(covariance, moments.means.mT.contiguous(), shift=self.shrinkage)  # Λμ (d, c)
        biases = -0.5 * (moments.means.mT * weights).sum(0)  # -½ μᵀΛμ (c,)
        return {"weights": weights.to(self._torch_dtype), "biases": biases.to(self._torch_dtype)}

    def _scores(self, x: Tensor, solution: Solution) -> Tensor:
        return x @ solution["weights"] + solution["biases"]
