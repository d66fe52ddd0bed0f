"""AnaCP: Analytic Contrastive Projection (Momeni, Xiao and Liu, NeurIPS 2025)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.registry import register
from anacp.learners.replayed import Readout, replayed_gram
from anacp.learners.ridge_choice import Ridge, holds_out, is_ridge, ridge_statistics, solve_ridge
from anacp.learners.solved import Solution
from anacp.projections import (
    ACTIVATIONS,
    Activation,
    ContrastiveProjection,
    RandomProjection,
    Targets,
    target_prototypes,
)
from anacp.statistics import ClassMoments, Features, Statistic

__all__ = ["AnaCP"]

# Added to the covariance when it is inverted, relative to E‖x‖² (1 for normalised features); never stored.
JITTER = 1e-4


@dataclass(frozen=True)
class _Predictor:
    projection: ContrastiveProjection | None
    features: Features | None  # the ELM's, of the projection's coefficients or of the input
    weights: Tensor  # (m, c) for the ELM, unit prototypes (c, d) for NCM


@register
class AnaCP(TransformerMixin, Learner):  # type: ignore[misc]
    """Random projections, ridge regression onto separated class means, pseudo-replay, and an ELM on top.

    Keeps class means, one covariance, and a Gram matrix with class sums for each head; everything else is solved from
    these. No gradient, no stored example, no number of classes in advance.

    Parameters
    ----------
    n_projected : int, default=5000
        Random features a head, D.
    n_heads : int, default=3
        Contrastive projection heads, H. 0 turns the projection off: a plain ELM, or a plain NCM.
    n_replay : int, default=100
        Pseudo-features drawn for each class to solve the ELM, R.
    ridge : float or {"gcv", "squared error", "accuracy"}, default=100.0
        λ of the heads, or how to choose it for each head.
    classifier_ridge : float or "gcv", default=100.0
        λ of the ELM, or how to choose it.
    repulsion : float, default=1.0
        α, how far class means are pushed apart.
    targets : {"paper", "reference", "means"}, default="paper"
        Target prototypes: the paper's, the released code's, or the class means themselves (no repulsion).
    covariance : {"shared", "class"}, default="shared"
        Replay from one covariance, or from one for each class (Σ_y; costs d² numbers a class).
    classifier : {"elm", "ncm"}, default="elm"
        Solve an ELM on replayed features, or take the nearest target prototype in cosine distance.
    activation : {"gelu", "relu", "tanh", "identity"}, default="gelu"
        φ.
    normalize : bool or {"inputs", "heads"}, default=True
        Scale to length one: inputs and the output of each head (True), only one of them, or neither (False).
    random_state : int, default=0
        Seed of all projections and draws.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the projections, Gram matrices and scores.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
        The classes learned so far, sorted.
    n_features_in_ : int
        The width of the features, d.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.AnaCP(n_projected=1000).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _solve_parameters: ClassVar[frozenset[str]] = frozenset(
        {"n_replay", "ridge", "classifier_ridge", "repulsion", "targets"}
    )

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        n_heads: int = 3,
        n_replay: int = 100,
        ridge: Ridge = 100.0,
        classifier_ridge: float | Literal["gcv"] = 100.0,
        repulsion: float = 1.0,
        targets: Targets = "paper",
        covariance: Literal["shared", "class"] = "shared",
        classifier: Literal["elm", "ncm"] = "elm",
        activation: Activation = "gelu",
        normalize: bool | Literal["inputs", "heads"] = True,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.n_heads = n_heads
        self.n_replay = n_replay
        self.ridge = ridge
        self.classifier_ridge = classifier_ridge
        self.repulsion = repulsion
        self.targets = targets
        self.covariance = covariance
        self.classifier = classifier
        self.activation = activation
        self.normalize = normalize
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect_count("n_projected")
        self._expect_count("n_replay")
        self._expect("n_heads", isinstance(self.n_heads, int | np.integer) and self.n_heads >= 0, "an integer ≥ 0")
        self._expect("ridge", is_ridge(self.ridge), "a positive number, 'gcv', 'squared error' or 'accuracy'")
        replayed = is_ridge(self.classifier_ridge) and not holds_out(self.classifier_ridge)
        self._expect("classifier_ridge", replayed, "a positive number or 'gcv' (replay has no examples to hold out)")
        self._expect("repulsion", self.repulsion >= 0, "a number ≥ 0")
        self._expect_choice("targets", *get_args(Targets))
        self._expect_choice("covariance", "shared", "class")
        self._expect_choice("classifier", "elm", "ncm")
        self._expect_choice("activation", *ACTIVATIONS)
        self._expect_choice("normalize", True, False, "inputs", "heads")

    def _may_change(self, name: str, before: object, now: object) -> bool:
        return super()._may_change(name, before, now) and not (holds_out(before) or holds_out(now))

    def _prepare(self, x: Tensor) -> Tensor:
        return F.normalize(x, dim=1) if self.normalize in (True, "inputs") else x

    def _projection(self, n_features: int, role: str) -> RandomProjection:
        return RandomProjection(
            n_features, self.n_projected, self.activation, self.random_state, role, self.device, self._torch_dtype
        )

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Moments, and a Gram matrix for each head; without heads the ELM has one of its own."""
        roles = {f"head {h}": self.ridge for h in range(self.n_heads)}
        if not roles and self.classifier == "elm":
            roles = {"classifier": self.classifier_ridge}
        # One matrix a class is the dearest thing a model can hold, so it is kept in the chosen precision.
        precision = self._torch_dtype if self.covariance == "class" else torch.float64
        moments = ClassMoments(n_features, spread=self.covariance, device=device, dtype=precision)
        statistics: dict[str, Statistic] = {"moments": moments}
        for role, ridge in roles.items():
            features = self._projection(n_features, role)
            statistics |= ridge_statistics(role, n_features, features, ridge, device=device, dtype=self._torch_dtype)
        return statistics

    def _solve(self) -> Solution:
        if self.n_heads == 0:
            if self.classifier == "ncm":
                return {"prototypes": self._memory.moments.means.to(self._torch_dtype)}
            return {"weights": solve_ridge(self._memory.statistics, "classifier", self.classifier_ridge)[0]}
        solution = {f"head {h}": self._head(h) for h in range(self.n_heads)} | {"prototypes": self._prototypes()}
        return solution if self.classifier == "ncm" else solution | self._elm(solution)

    def _head(self, h: int) -> Tensor:
        return solve_ridge(self._memory.statistics, f"head {h}", self.ridge)[0]  # (m, c)

    def _prototypes(self) -> Tensor:
        moments = self._memory.moments
        jitter = JITTER * (moments.mean_square() or 1.0)
        covariance = moments.covariance()
        covariance = covariance + jitter * torch.eye(len(covariance)).to(covariance)
        prototypes = target_prototypes(moments.means, covariance, targets=self.targets, repulsion=self.repulsion)
        return prototypes.to(self._torch_dtype)  # (c, d)

    def _elm(self, solution: Solution) -> Solution:
        """Solve the ELM on pseudo-features that went through the contrastive projection."""
        kept = self._solved.kept
        if "classifier" not in kept:
            kept["classifier"] = self._projection(self.n_features_in_, "classifier")
        readout = solution["prototypes"] @ kept["classifier"].matrix  # PV (c, m)
        gram = replayed_gram(
            self._memory.moments,
            self._contrastive_projection(solution),
            Readout(readout, self.activation),
            n_replay=self.n_replay,
            seed=self.random_state,
        )
        return {"readout": readout, "weights": solve_ridge({"replay": gram}, "replay", self.classifier_ridge)[0]}

    def _contrastive_projection(self, solution: Solution) -> ContrastiveProjection:
        return ContrastiveProjection(
            heads=[cast(RandomProjection, self._memory.features(f"head {h}")) for h in range(self.n_heads)],
            weights=[solution[f"head {h}"] for h in range(self.n_heads)],
            prototypes=solution["prototypes"],
            normalize=self.normalize in (True, "heads"),
        )

    def _predictor(self, solution: Solution) -> _Predictor:
        projection = self._contrastive_projection(solution) if self.n_heads else None
        if self.classifier == "ncm":
            return _Predictor(projection, None, F.normalize(solution["prototypes"], dim=1))
        own = Readout(solution["readout"], self.activation) if projection else self._memory.features("classifier")
        return _Predictor(projection, own, solution["weights"])

    def _scores(self, x: Tensor, solution: _Predictor) -> Tensor:
        projection, features, weights = solution.projection, solution.features, solution.weights
        if features is None:
            adapted = projection(x) if projection else x
            return F.normalize(adapted, dim=1) @ weights.mT
        return features(projection.coefficients(x) if projection else x) @ weights

    def _evidence(self, scores: Tensor) -> Tensor:
        # The ELM is fitted to 0 and 1 by least squares: its scores are rough probabilities, not log-odds.
        return log_positive_part(scores) if self.classifier == "elm" else scores

    def transform(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return the adapted features u (n, d): the input after the contrastive projection (Eq. 17)."""

        def adapted(rows: Tensor, solution: _Predictor) -> Tensor:
            return solution.projection(rows) if solution.projection else rows

        return self._in_blocks(x, adapted).cpu().numpy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # `dtype` decides, not the input
        return tags

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        elm = self.classifier == "elm"
        return {
            "random matrices, from the seed": (self.n_heads + elm) * n_features * self.n_projected,
            "weights, solved from the statistics": (self.n_heads + elm) * self.n_projected * n_classes,
            "target prototypes, from the class means": (self.n_heads > 0) * n_classes * n_features,
        }
