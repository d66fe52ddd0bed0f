"""KLDA: linear discriminant analysis of a Gaussian kernel's features (Momeni et al. 2025), and its ensemble KLDA-E."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor

from anacp.catalogue import method
from anacp.errors import InputError
from anacp.learners.base import Learner
from anacp.learners.constraints import LARGEST_ENSEMBLE, POSITIVE, Constraint, count
from anacp.learners.memory import Memory
from anacp.learners.solution import Solution
from anacp.linalg import solve_psd
from anacp.projections import FourierProjection
from anacp.statistics import ClassMoments, Features, Statistic

# Published for each backbone.
SETTINGS: dict[str, dict[str, Any]] = {
    "dinov2": {"gamma": 1e-4, "shrinkage": 1e-3},
    "mocov3": {"gamma": 1e-2, "shrinkage": 1e-4},
    "minilm": {"gamma": 1e-2, "shrinkage": 1e-4},
}
QUICK = {"n_projected": 1000}
# A phase that is rounded by more than this many radians says nothing of its row.
LARGEST_PHASE_ERROR = 1e-3


@dataclass(frozen=True, eq=False)
class KernelDiscriminants(Solution):
    """The linear discriminants of each member, on features of its own."""

    features: tuple[Features, ...]
    weights: Tensor  # (k, m, c)
    biases: Tensor  # (k, c)


@method("KLDA-E", parameters={"n_members": 5}, settings=SETTINGS, quick=QUICK, page="klda", compared=5)
@method(settings=SETTINGS, quick=QUICK, page="klda", compared=4)
class KLDA(Learner[KernelDiscriminants]):
    """Gaussian classes with one covariance in the space of a Gaussian kernel, by random Fourier features.

    Scores are zᵀΛμ_c - ½ μ_cᵀΛμ_c with Λ = (scatter + ρI)⁻¹, the Mahalanobis distance up to a constant of the row. With
    several members (KLDA-E) the softmaxes of their scores are summed.

    Parameters
    ----------
    n_projected : int, default=5000
        Fourier features, D.
    gamma : float, default=1e-4
        γ of the kernel exp(-γ‖x - y‖²). Published: 1e-4 on DINO-v2, 1e-2 on MoCo-v3 and MiniLM.
    shrinkage : float, default=1e-3
        ρ, added to the diagonal of the pooled scatter (not divided by N). Published: 1e-3 on DINO-v2, 1e-4 on MoCo-v3.
    n_members : int, default=1
        Members of the ensemble, each with features of its own. KLDA-E has 5.
    random_state : int, default=0
        Seed of the Fourier features, and of the draws that calibrate `predict_proba`.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of features, scatter and scores.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.KLDA(n_projected=500, gamma=1e-2).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_projected": count(),
        "gamma": POSITIVE,
        "shrinkage": POSITIVE.solving,
        "n_members": count(LARGEST_ENSEMBLE),
    }

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        gamma: float = 1e-4,
        shrinkage: float = 1e-3,
        n_members: int = 1,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.n_members = n_members
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        kernels = {
            f"member {member}": ClassMoments(
                n_features,
                spread="shared",
                features=FourierProjection(
                    n_features,
                    self.n_projected,
                    self.gamma,
                    self.random_state,
                    f"member {member}",
                    self.device,
                    self._torch_dtype,
                ),
                device=device,
                dtype=self._torch_dtype,
            )
            for member in range(self.n_members)
        }
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device), **kernels}

    def _prepare(self, x: Tensor) -> Tensor:
        longest = float(torch.linalg.vector_norm(x.double(), dim=1).max()) if len(x) else 0.0
        radians = math.sqrt(2 * self.gamma) * longest
        if radians * torch.finfo(x.dtype).eps > LARGEST_PHASE_ERROR:
            raise InputError(
                f"Expected rows whose phases √(2γ)‖x‖ {self.dtype} can tell apart, got rows of length {longest:.2g} at "
                f"gamma={self.gamma:g}. Scale the features (such as to length one), or lower gamma."
            )
        return x

    def _solve(self, memory: Memory, before: KernelDiscriminants | None) -> KernelDiscriminants:
        members = (cast(ClassMoments, memory.statistics[f"member {i}"]) for i in range(self.n_members))
        solved = [self._discriminant(moments) for moments in members]
        weights, biases = (torch.stack(parts) for parts in zip(*solved, strict=True))
        return KernelDiscriminants(self._member_features(memory), weights, biases)

    def _check_left(self, memory: Memory) -> None:
        for member in range(self.n_members):
            cast(ClassMoments, memory.statistics[f"member {member}"]).check_shrinkage(self.shrinkage)

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> KernelDiscriminants:
        return KernelDiscriminants.restored(tensors, features=self._member_features(memory))

    def _member_features(self, memory: Memory) -> tuple[Features, ...]:
        return tuple(memory.features(f"member {i}") for i in range(self.n_members))

    def _discriminant(self, moments: ClassMoments) -> tuple[Tensor, Tensor]:
        """Return Λμ (m, c) and -½ μᵀΛμ (c,)."""
        means = moments.means.mT.to(self._torch_dtype).contiguous()  # (m, c)
        weights = solve_psd(moments.scatter, means, shift=self.shrinkage)
        return weights, -0.5 * (means * weights).sum(0)

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        members = self.n_members
        weights = self._sized(members, self.n_projected, n_classes)
        return {"weights": weights, "biases": self._sized(members, n_classes)}

    def _scores(self, x: Tensor, solution: KernelDiscriminants) -> Tensor:
        parts = zip(solution.features, solution.weights, solution.biases, strict=True)
        members: list[Tensor] = [features(x) @ weights + biases for features, weights, biases in parts]
        if len(members) == 1:
            return members[0]
        return torch.stack([torch.softmax(scores, dim=1) for scores in members]).sum(0)

    def _evidence(self, scores: Tensor) -> Tensor:
        # A sum of softmaxes is a probability; its logarithm is what grows with the log-odds.
        return scores if self.n_members == 1 else scores.clamp_min(torch.finfo(scores.dtype).tiny).log()

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        return {
            "Fourier matrices, from the seed": self.n_members * (n_features + 1) * self.n_projected,
            "weights, solved from the statistics": self.n_members * self.n_projected * n_classes,
        }
