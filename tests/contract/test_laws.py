"""Every learner of the package, in every setting that takes a branch of its own, keeps every law."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from anacp.errors import ParameterError
from anacp.learners import NCM, AnaCP, Learner, Memory, Solution
from anacp.statistics import ClassMoments, Statistic
from anacp.testing import LAWS, Law, assert_same, blobs, check_learner
from tests.contract.every_learner import every_learner, one_of_each

OURS = [law for law in LAWS if law.name != "scikit_learns_own_checks_pass"]
SCIKIT_LEARNS = [law for law in LAWS if law not in OURS]


@pytest.mark.parametrize("law", OURS, ids=lambda law: law.name)
@pytest.mark.parametrize("learner", every_learner(), ids=repr)
def test_law(learner: Learner, law: Law) -> None:
    law.hold(learner)


@pytest.mark.parametrize("learner", one_of_each(), ids=repr)
def test_scikit_learn(learner: Learner) -> None:
    assert len(SCIKIT_LEARNS) == 1
    check_learner(learner, SCIKIT_LEARNS)


@dataclass(frozen=True, eq=False)
class Means(Solution):
    means: Tensor


class OwnMeans(Learner[Means]):
    """A method of somebody's own."""

    def __init__(self, *, random_state: int = 0, device: str = "cpu", dtype: str = "float32") -> None:
        self.random_state, self.device, self.dtype = random_state, device, dtype

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device)}

    def _solve(self, memory: Memory, before: Means | None) -> Means:
        return Means(memory.moments.means.to(self._torch_dtype))

    def _scores(self, x: Tensor, solution: Means) -> Tensor:
        return -torch.cdist(x, solution.means, compute_mode="donot_use_mm_for_euclid_dist")


def test_a_method_of_ones_own_is_held_to_all_of_them() -> None:
    check_learner(OwnMeans)


class Arrival(OwnMeans):
    """Remembers how often it was taught."""

    def _scores(self, x: Tensor, solution: Means) -> Tensor:
        return super()._scores(x, solution) * self.n_calls

    def partial_fit(self, x: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "Arrival":
        self.n_calls = getattr(self, "n_calls", 0) + 1
        return super().partial_fit(x, y, classes, sample_weight)


class Leaky(OwnMeans):
    """Changes what it knows before it may fail."""

    def partial_fit(self, x: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "Leaky":
        super().partial_fit(x[:1], y[:1])
        return super().partial_fit(x[1:], y[1:])


class Sloppy(OwnMeans):
    """Solves again what the file has."""

    def _restored(self, tensors: Any, memory: Memory) -> Means:
        return Means(tensors["means"] + 1)


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (Arrival, "split_and_order_leave_no_trace"),
        (Leaky, "a_failure_in_the_middle_changes_nothing"),
        (Sloppy, "a_solution_is_kept_and_not_solved_again"),
    ],
)
def test_a_broken_law_is_found_and_named(broken: type[Learner], law: str) -> None:
    with pytest.raises(AssertionError, match=f"breaks the law {law}: "):
        check_learner(broken, [one for one in LAWS if one.name == law])


def test_a_learner_without_a_part_fails_when_its_class_is_made() -> None:
    with pytest.raises(TypeError, match="Expected the learner Half to define _scores, _solve"):

        class Half(Learner[Means]):
            def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
                return {}


def test_a_solve_parameter_may_change() -> None:
    x, y = blobs()
    model = AnaCP(n_projected=60, ridge=1.0).partial_fit(x, y)
    model.predict(x)
    model.set_params(ridge=3.0, targets="means")
    assert_same(model, AnaCP(n_projected=60, ridge=3.0, targets="means").partial_fit(x, y), x)


def test_parameters_are_no_secret() -> None:
    model = NCM().partial_fit(*blobs()).set_params(dtype="float64")
    with pytest.raises(ParameterError, match="Parameters that may change: none"):
        model.predict(blobs()[0])
