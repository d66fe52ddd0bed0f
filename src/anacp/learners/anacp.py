"""AnaCP: Analytic Contrastive Projection (Momeni, Xiao and Liu, NeurIPS 2025)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from torch import Tensor

from anacp.catalogue import method
from anacp.errors import NumericalError
from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.constraints import LARGEST_ENSEMBLE, NOT_NEGATIVE, Constraint, choice, count, whole
from anacp.learners.formulas import cosine_scores, feature_scores, replayed_scores
from anacp.learners.memory import Memory
from anacp.learners.regression import Regression
from anacp.learners.ridge_choice import RIDGE_RANGE, RidgeChoice, check_ridge, ridge_statistics, solve_ridge
from anacp.learners.solution import Solution
from anacp.linalg import checked, factor_psd, fresh_weights, unit_rows
from anacp.projections import (
    ACTIVATIONS,
    Activation,
    ContrastiveProjection,
    RandomProjection,
    StructuredProjection,
    Targets,
    target_prototypes,
)
from anacp.replay import Readout, adapted_gaussians, expected_gram, sampled_gram
from anacp.statistics import ClassGram, ClassMoments, Statistic

# Added to the covariance when it is inverted, relative to E‖x‖² (1 for normalised features); never stored.
JITTER = 1e-4
# How many random features an ELM solved in expectation has at most. More are several ELMs, whose mean is as accurate as
# one of all features, on training rows held out, and costs a fraction.
TOGETHER = 2000


@dataclass(frozen=True, eq=False)
class ContrastiveSolution(Solution):
    """The heads' weights, where each class is sent, and the classifier on top; what a variant lacks is None.

    Of more classes than features, the heads are W_h = B_h P: fewer numbers, and PV is not needed.
    """

    heads: tuple[Tensor, ...] = ()  # B_h, each (m, c), or W_h (m, d)
    prototypes: Tensor | None = None  # P (c, d)
    readout: Tensor | None = None  # PV (c, m)
    weights: Tensor | None = None  # of the ELM (m, c)
    projections: tuple[RandomProjection, ...] = ()  # the heads' random features; without heads, the ELM's
    drawn: RandomProjection | None = None  # V

    def portable(self) -> Self:
        """Return the same for a graph that is exported; a structured V has fewer numbers than PV."""
        solution = super().portable()
        return replace(solution, readout=None) if isinstance(self.drawn, StructuredProjection) else solution

    @cached_property
    def _made(self) -> dict[bool, ContrastiveProjection]:
        return {}

    def contrastive(self, *, normalize: bool) -> ContrastiveProjection:
        """Return the contrastive projection, made once: products of prototypes cost more than a row."""
        by_class = self.prototypes is not None and self.heads[0].shape[1] == len(self.prototypes)
        basis = self.prototypes if by_class else None
        made = ContrastiveProjection(self.projections, self.heads, basis, normalize)
        return self._made.setdefault(normalize, made)


@method(quick={"n_projected": 1000}, page="anacp", compared=10)
class AnaCP(TransformerMixin, Learner[ContrastiveSolution]):  # type: ignore[misc]
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
        Pseudo-features that a class counts for when the ELM is solved, R.
    replay : {"expected", "sampled"}, default="expected"
        Solve the ELM for all pseudo-features in expectation, or for n_replay drawn ones, as the paper does. One
        covariance a class is always drawn from.
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
    projection : {"structured", "gaussian"}, default="structured"
        Random matrices made of few numbers, at a fraction of the work, or dense ones, as in the paper.
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

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_projected": count(),
        "n_heads": whole(0, LARGEST_ENSEMBLE),
        "n_replay": count().solving,
        "replay": choice("expected", "sampled").solving,
        "ridge": RIDGE_RANGE,
        "classifier_ridge": Constraint(
            "a positive number or 'gcv' (replay has no examples to hold out)",
            lambda value: value == "gcv" or (not isinstance(value, str) and RIDGE_RANGE.accepts(value)),
        ).solving,
        "repulsion": NOT_NEGATIVE.solving,
        "targets": choice(*get_args(Targets)).solving,
        "covariance": choice("shared", "class"),
        "classifier": choice("elm", "ncm"),
        "projection": choice("structured", "gaussian"),
        "activation": choice(*ACTIVATIONS),
        "normalize": choice(True, False, "inputs", "heads"),
    }

    _before_stated: ClassVar[Mapping[str, Any]] = {"replay": "sampled", "projection": "gaussian"}

    def __init__(
        self,
        *,
        n_projected: int = 5000,
        n_heads: int = 3,
        n_replay: int = 100,
        replay: Literal["expected", "sampled"] = "expected",
        ridge: RidgeChoice = 100.0,
        classifier_ridge: float | Literal["gcv"] = 100.0,
        repulsion: float = 1.0,
        targets: Targets = "paper",
        covariance: Literal["shared", "class"] = "shared",
        classifier: Literal["elm", "ncm"] = "elm",
        projection: Literal["structured", "gaussian"] = "structured",
        activation: Activation = "gelu",
        normalize: bool | Literal["inputs", "heads"] = True,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_projected = n_projected
        self.n_heads = n_heads
        self.n_replay = n_replay
        self.replay = replay
        self.ridge = ridge
        self.classifier_ridge = classifier_ridge
        self.repulsion = repulsion
        self.targets = targets
        self.covariance = covariance
        self.classifier = classifier
        self.projection = projection
        self.activation = activation
        self.normalize = normalize
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _prepare(self, x: Tensor) -> Tensor:
        return unit_rows(x) if self.normalize in (True, "inputs") else x

    def _projection(self, n_features: int, role: str) -> RandomProjection:
        kind = RandomProjection if self.projection == "gaussian" else StructuredProjection
        return kind(
            n_features, self.n_projected, self.activation, self.random_state, role, self.device, self._torch_dtype
        )

    def _roles(self) -> dict[str, RidgeChoice]:
        """Return what has a Gram matrix, and its λ: each head; without heads the ELM."""
        roles: dict[str, RidgeChoice] = {f"head {h}": self.ridge for h in range(self.n_heads)}
        return roles or ({"classifier": self.classifier_ridge} if self.classifier == "elm" else {})

    def _ridges(self) -> dict[str, float]:
        numbers = {role: float(ridge) for role, ridge in self._roles().items() if not isinstance(ridge, str)}
        return numbers if self.covariance == "shared" else {}

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Moments, and a Gram matrix for each role."""
        roles = self._roles()
        # One matrix a class is the dearest thing a model can hold, so it is kept in the chosen precision.
        precision = self._torch_dtype if self.covariance == "class" else torch.float64
        moments = ClassMoments(n_features, spread=self.covariance, device=device, dtype=precision)
        statistics: dict[str, Statistic] = {"moments": moments}
        for role, ridge in roles.items():
            features = self._projection(n_features, role)
            statistics |= ridge_statistics(role, n_features, features, ridge, device=device, dtype=self._torch_dtype)
        return statistics

    def _solve(self, memory: Memory, before: ContrastiveSolution | None) -> ContrastiveSolution:
        if self.n_heads == 0:
            if self.classifier == "ncm":
                return ContrastiveSolution(prototypes=memory.moments.means.to(self._torch_dtype))
            weights, _ = solve_ridge(memory.statistics, "classifier", self.classifier_ridge)
            return ContrastiveSolution(weights=weights, projections=self._projections(memory))
        prototypes = self._prototypes(memory)
        many = len(prototypes) > prototypes.shape[1]
        heads = tuple(
            solve_ridge(memory.statistics, f"head {h}", self.ridge, targets=prototypes if many else None)[0]
            for h in range(self.n_heads)
        )
        kept = None if many and self.classifier == "elm" else prototypes
        adapted = ContrastiveSolution(heads, kept, projections=self._projections(memory))
        return adapted if self.classifier == "ncm" else self._with_elm(adapted, memory, before)

    def _regression(self, memory: Memory, solution: ContrastiveSolution) -> Regression | None:
        by_class = bool(solution.heads) and solution.heads[0].shape[1] == memory.moments.n_classes
        gram = memory.statistics.get("head 0")
        if isinstance(self.ridge, str) or not by_class or not isinstance(gram, ClassGram):
            return None
        return Regression(gram, solution.heads[0], float(self.ridge))

    def _check_left(self, memory: Memory) -> None:
        for role, ridge in self._roles().items():
            check_ridge(memory.statistics, role, ridge)

    def _prototypes(self, memory: Memory) -> Tensor:
        moments = memory.moments
        jitter = JITTER * (moments.mean_square() or 1.0)
        covariance = moments.covariance()
        covariance.diagonal().add_(jitter)
        prototypes = target_prototypes(moments.means, covariance, targets=self.targets, repulsion=self.repulsion)
        prototypes = prototypes.to(self._torch_dtype)  # (c, d)
        if not bool(torch.isfinite(prototypes).all()):
            raise NumericalError(
                f"Expected target prototypes that {self.dtype} can hold, got infinite ones with repulsion "
                f"{self.repulsion:g}. Lower `repulsion`, or use dtype='float64'."
            )
        return prototypes

    def _with_elm(
        self, adapted: ContrastiveSolution, memory: Memory, before: ContrastiveSolution | None
    ) -> ContrastiveSolution:
        """Solve the ELM on pseudo-features that went through the contrastive projection."""
        drawn = (before.drawn if before else None) or self._projection(self.n_features_in_, "classifier")
        basis = adapted.prototypes
        readout = drawn.matrix if basis is None else drawn.linear(basis)  # V (d, m) or PV (c, m)
        # One covariance a class has no expectation that costs less than drawing from it.
        drawing = self.replay == "sampled" or self.covariance == "class"
        solved = self._on_draws if drawing else self._in_expectation
        weights = solved(memory.moments, self._contrastive(adapted), readout)
        return replace(adapted, readout=None if basis is None else readout, weights=weights, drawn=drawn)

    def _on_draws(self, moments: ClassMoments, projection: ContrastiveProjection, readout: Tensor) -> Tensor:
        features, seed = Readout(readout, self.activation), self.random_state
        return self._classifier(lambda: sampled_gram(moments, projection, features, n_replay=self.n_replay, seed=seed))

    def _in_expectation(self, moments: ClassMoments, projection: ContrastiveProjection, readout: Tensor) -> Tensor:
        """Return the weights of several ELMs, each on a part of the features, of which the mean is what answers."""
        adapted = adapted_gaussians(moments, projection, seed=self.random_state)
        parts = readout.tensor_split(math.ceil(readout.shape[1] / TOGETHER), dim=1)
        weights, done = fresh_weights(readout, readout.shape[1], moments.n_classes), 0
        for part in parts:
            features = slice(done, done := done + part.shape[1])
            gram = partial(expected_gram, adapted, Readout(part, self.activation), n_replay=self.n_replay)
            torch.div(self._classifier(partial(gram, sums=weights[features].mT)), len(parts), out=weights[features])
        return weights

    def _classifier(self, replayed: Callable[[], ClassGram]) -> Tensor:
        """Return an ELM's weights; λ is that of all features, of which there may be a part."""
        gram = replayed()
        if isinstance(self.classifier_ridge, str):
            return solve_ridge({"replay": gram}, "replay", self.classifier_ridge)[0]
        ridge = self.classifier_ridge * gram.size / self.n_projected
        if gram.triangle is None:
            return gram.solve(ridge=ridge)
        try:
            factor = factor_psd(gram.triangle, shift=ridge, give_up=True)  # nobody else has seen it
            sums = gram.sums.mT
            return checked(factor.solve(sums, out=sums), gram.size, ridge)
        except NumericalError:  # overwritten: what falls back to float64 needs it once more
            return replayed().solve(ridge=ridge)

    def _projections(self, memory: Memory) -> tuple[RandomProjection, ...]:
        names = [f"head {h}" for h in range(self.n_heads)] or ["classifier"]
        return tuple(memory.features(name) for name in names)

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> ContrastiveSolution:
        elm = self.classifier == "elm"
        projections = self._projections(memory) if self.n_heads or elm else ()
        drawn = self._projection(self.n_features_in_, "classifier") if self.n_heads and elm else None
        return ContrastiveSolution.restored(tensors, projections=projections, drawn=drawn)

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        elm, size, few = self.classifier == "elm", self.n_projected, n_classes <= n_features
        outline = {f"head {h}": self._sized(size, min(n_classes, n_features)) for h in range(self.n_heads)}
        if (self.n_heads and few) or not elm:
            outline["prototypes"] = self._sized(n_classes, n_features)
        if self.n_heads and few and elm:
            outline["readout"] = self._sized(n_classes, size)
        return outline | ({"weights": self._sized(size, n_classes)} if elm else {})

    def _former_outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        """Return the same with heads by class, whatever the sizes."""
        wide = self._outline(n_classes, n_classes)
        return wide | ({"prototypes": self._sized(n_classes, n_features)} if "prototypes" in wide else {})

    def _contrastive(self, solution: ContrastiveSolution) -> ContrastiveProjection:
        return solution.contrastive(normalize=self.normalize in (True, "heads"))

    def _scores(self, x: Tensor, solution: ContrastiveSolution) -> Tensor:
        if self.classifier == "ncm":
            assert solution.prototypes is not None
            return cosine_scores(self._adapted(x, solution), unit_rows(solution.prototypes), unit_rows)
        assert solution.weights is not None
        if not solution.heads:
            return feature_scores(x, solution.projections[0], solution.weights)
        coefficients = self._contrastive(solution).coefficients(x)
        if solution.prototypes is None:
            assert solution.drawn is not None
            return feature_scores(coefficients, solution.drawn, solution.weights)
        return replayed_scores(coefficients, _readout(solution), ACTIVATIONS[self.activation], solution.weights)

    def _adapted(self, x: Tensor, solution: ContrastiveSolution) -> Tensor:
        return self._contrastive(solution)(x) if solution.heads else x

    def _evidence(self, scores: Tensor) -> Tensor:
        # The ELM is fitted to 0 and 1 by least squares: its scores are rough probabilities, not log-odds.
        return log_positive_part(scores) if self.classifier == "elm" else scores

    def transform(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return the adapted features u (n, d): the input after the contrastive projection (Eq. 17)."""
        model = self._snapshot()
        return model._in_blocks(x, model._adapted).cpu().numpy()

    def stages(self, x: ArrayLike | Tensor) -> dict[str, NDArray[Any]]:
        """Return rows at three stages: as they are, after the first head's random features, and adapted."""
        model = self._snapshot()
        random = model._in_blocks(x, lambda rows, solution: solution.projections[0](rows)).cpu().numpy()
        return {"input": np.asarray(x), "random": random, "projected": model.transform(x)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # `dtype` decides, not the input
        return tags

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        elm = self.classifier == "elm"
        return {
            "random matrices, from the seed": (self.n_heads + elm) * n_features * self.n_projected,
            "weights, solved from the statistics": self.n_projected
            * (self.n_heads * min(n_classes, n_features) + elm * n_classes),
            "target prototypes, from the class means": (self.n_heads > 0) * n_classes * n_features,
        }


def _readout(solution: ContrastiveSolution) -> Tensor:
    """Return PV (c, m), from V where it is not kept."""
    if solution.readout is not None:
        return solution.readout
    assert solution.drawn is not None
    assert solution.prototypes is not None
    return solution.drawn.linear(solution.prototypes)
