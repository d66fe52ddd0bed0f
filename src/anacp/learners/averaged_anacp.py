"""Several AnaCPs of different random projections, averaged: the same statistics of classes, more random features."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, get_args

from torch import Tensor

from anacp.catalogue import method
from anacp.learners.anacp import AnaCP, ContrastiveSolution
from anacp.learners.base import Learner
from anacp.learners.calibration import log_positive_part
from anacp.learners.constraints import LARGEST_ENSEMBLE, NOT_NEGATIVE, Constraint, choice, count, whole
from anacp.learners.members import OwnParts, member_parameters, prefix
from anacp.learners.memory import Memory
from anacp.learners.regression import Regression
from anacp.learners.ridge_choice import RIDGE_RANGE
from anacp.learners.solution import Solution
from anacp.linalg import unit_rows
from anacp.projections import Targets
from anacp.statistics import Statistic


@dataclass(frozen=True, eq=False)
class AveragedSolution(Solution):
    """What each member has solved."""

    members: tuple[ContrastiveSolution, ...]

    def tensors(self) -> dict[str, Tensor]:
        """Return what a model file keeps, by member and name."""
        return {
            prefix(i) + name: tensor for i, one in enumerate(self.members) for name, tensor in one.tensors().items()
        }

    def portable(self) -> Self:
        """Return the same for a graph that is exported."""
        return replace(self, members=tuple(one.portable() for one in self.members))


@method(quick={"n_projected": 1000}, page="averaged-anacp")
class AveragedAnaCP(Learner[AveragedSolution]):
    """AnaCP with several independent sets of random projections, whose scores are averaged.

    More random features are more accurate, but one model of m times as many costs m³ times the work and m² times the
    memory; m models cost m times either. Class means and the covariance are kept once.

    Parameters
    ----------
    n_members : int, default=3
        How many are averaged.
    n_projected : int, default=5000
        Random features a head, D.
    n_heads : int, default=3
        Contrastive projection heads of each, H.
    n_replay : int, default=100
        Pseudo-features that a class counts for when an ELM is solved, R.
    ridge : float, default=100.0
        λ of the heads.
    classifier_ridge : float, default=100.0
        λ of the ELMs.
    repulsion : float, default=1.0
        α, how far class means are pushed apart.
    targets : {"both", "reference", "paper", "means"}, default="both"
        Target prototypes: the released code's and the paper's in turn, only one of them, or the class means themselves
        (no repulsion).
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
    >>> model = anacp.AveragedAnaCP(n_projected=500).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_members": whole(1, LARGEST_ENSEMBLE),
        "n_projected": count(),
        "n_heads": whole(1, LARGEST_ENSEMBLE),
        "n_replay": count().solving,
        "ridge": RIDGE_RANGE,
        "classifier_ridge": RIDGE_RANGE.solving,
        "repulsion": NOT_NEGATIVE.solving,
        "targets": choice("both", *get_args(Targets)).solving,
    }

    def __init__(
        self,
        *,
        n_members: int = 3,
        n_projected: int = 5000,
        n_heads: int = 3,
        n_replay: int = 100,
        ridge: float = 100.0,
        classifier_ridge: float = 100.0,
        repulsion: float = 1.0,
        targets: Targets | Literal["both"] = "both",
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.n_members = n_members
        self.n_projected = n_projected
        self.n_heads = n_heads
        self.n_replay = n_replay
        self.ridge = ridge
        self.classifier_ridge = classifier_ridge
        self.repulsion = repulsion
        self.targets = targets
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _members(self) -> list[AnaCP]:
        """Return the learners that are averaged; they hold parameters, and nothing that was learned."""
        parameters = self.get_params(deep=False)
        return [AnaCP(**member_parameters(parameters, i)) for i in range(self.n_members)]

    def _prepare(self, x: Tensor) -> Tensor:
        return unit_rows(x)

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Return the moments, once, and a Gram matrix for each head of each member."""
        kept: dict[str, Statistic] = {}
        for i, member in enumerate(self._members()):
            own = member._statistics(n_features, device)
            kept.setdefault("moments", own.pop("moments"))
            kept |= {prefix(i) + name: statistic for name, statistic in own.items()}
        return kept

    def _solve(self, memory: Memory, before: AveragedSolution | None) -> AveragedSolution:
        solved = []
        for i, member in enumerate(self._members()):
            member.n_features_in_ = self.n_features_in_
            solved.append(member._solve(_of(memory, i), before.members[i] if before else None))
        return AveragedSolution(tuple(solved))

    def _scores(self, x: Tensor, solution: AveragedSolution) -> Tensor:
        scored = [member._scores(x, own) for member, own in zip(self._members(), solution.members, strict=True)]
        return sum(scored[1:], start=scored[0]) / len(scored)

    def _evidence(self, scores: Tensor) -> Tensor:
        return log_positive_part(scores)

    def _regression(self, memory: Memory, solution: AveragedSolution) -> Regression | None:
        return self._members()[0]._regression(_of(memory, 0), solution.members[0])

    def _check_left(self, memory: Memory) -> None:
        for i, member in enumerate(self._members()):
            member._check_left(_of(memory, i))

    def _ridges(self) -> dict[str, float]:
        return {
            prefix(i) + role: ridge
            for i, member in enumerate(self._members())
            for role, ridge in member._ridges().items()
        }

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> AveragedSolution:
        restored = []
        for i, member in enumerate(self._members()):
            member.n_features_in_ = self.n_features_in_
            restored.append(member._restored(dict(OwnParts(tensors, i)), _of(memory, i)))
        return AveragedSolution(tuple(restored))

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        return {
            prefix(i) + name: outline
            for i, member in enumerate(self._members())
            for name, outline in member._outline(n_features, n_classes).items()
        }

    def _former_outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        return {
            prefix(i) + name: outline
            for i, member in enumerate(self._members())
            for name, outline in member._former_outline(n_features, n_classes).items()
        }

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        own = self._members()[0]._rebuilt(n_features, n_classes)
        return {name: self.n_members * numbers for name, numbers in own.items()}


def _of(memory: Memory, member: int) -> Memory:
    """Return the memory of one member."""
    return replace(memory, statistics=OwnParts(memory.statistics, member))
