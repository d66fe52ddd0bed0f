"""SLDA: streaming linear discriminant analysis (Hayes and Kanan, 2020)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from torch import Tensor

from anacp.catalogue import method
from anacp.learners.base import Learner
from anacp.learners.constraints import POSITIVE, Constraint, choice
from anacp.learners.formulas import linear_scores
from anacp.learners.memory import Memory
from anacp.learners.solution import LinearWeights
from anacp.linalg import Factor, checked, column_blocks, factor_psd, fresh_weights, narrowed
from anacp.statistics import ClassMoments, Statistic


@method(page="slda", compared=2)
class SLDA(Learner[LinearWeights]):
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

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.SLDA().partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "shrinkage": POSITIVE.solving,
        "blend": choice(True, False).solving,
    }

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

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        return {"moments": ClassMoments(n_features, spread="shared", device=device)}

    def _solve(self, memory: Memory, before: LinearWeights | None) -> LinearWeights:
        moments = memory.moments
        freedom = self._freedom(moments)
        covariance = moments.scatter.scaled((1 - self.shrinkage if self.blend else 1.0) / freedom)
        factor = factor_psd(covariance, shift=self.shrinkage)
        return self._weights(factor, moments.means, self._torch_dtype)

    def _weights(self, factor: Factor, means: Tensor, dtype: torch.dtype) -> LinearWeights:
        """Return Λμ (d, c) and -½ μᵀΛμ (c,), in the precision of the means where this one cannot hold them."""
        like = means.new_empty(0, dtype=dtype)
        weights, biases = fresh_weights(like, means.shape[1], len(means)), like.new_empty(len(means))
        for classes in column_blocks(len(means)):
            solved = checked(factor.solve(means[classes].mT), len(factor), self.shrinkage)
            own = -0.5 * (means[classes].mT * solved).sum(0)
            solved, own = narrowed(dtype, solved, own)
            if solved.dtype != dtype:
                return self._weights(factor, means, solved.dtype)
            weights[:, classes], biases[classes] = solved, own
        return LinearWeights(weights, biases)

    def _check_left(self, memory: Memory) -> None:
        memory.moments.check_shrinkage(self._freedom(memory.moments) * self.shrinkage)

    def _freedom(self, moments: ClassMoments) -> float:
        return moments.n if self.blend else max(moments.n - moments.n_classes, 1)

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        return {"weights": self._sized(n_features, n_classes), "biases": self._sized(n_classes)}

    def _scores(self, x: Tensor, solution: LinearWeights) -> Tensor:
        return linear_scores(x.to(solution.weights.dtype), solution.weights, solution.biases)
