"""What is averaged are AnaCPs, each as it would be alone."""

import numpy as np
import pytest

from anacp import AnaCP, AveragedAnaCP, load, load_sample
from anacp.learners.members import member_parameters
from tests.contract.every_learner import SETTINGS

SETTING = SETTINGS["AveragedAnaCP"][0]


def rows() -> tuple[np.ndarray, np.ndarray]:
    drawn = np.random.default_rng(0)
    y = np.arange(90) % 6
    return (drawn.normal(size=(90, 12)) + 2 * np.eye(12)[y]).astype(np.float32), y


def alone(model: AveragedAnaCP) -> list[AnaCP]:
    x, y = rows()
    return [AnaCP(**member_parameters(model.get_params(), i)).partial_fit(x, y).solve() for i in range(model.n_members)]


def test_scores_are_the_mean_of_members_that_differ() -> None:
    x, y = rows()
    model = AveragedAnaCP(**SETTING | {"n_members": 3}).partial_fit(x, y)
    members = [member.decision_function(x) for member in alone(model)]
    np.testing.assert_allclose(model.decision_function(x), np.mean(members, 0), atol=1e-5)
    assert min(np.abs(members[0] - members[1]).max(), np.abs(members[0] - members[2]).max()) > 1e-3


def test_members_take_both_targets_in_turn() -> None:
    model = AveragedAnaCP(**SETTING | {"n_members": 3})
    assert [member.targets for member in model._members()] == ["reference", "paper", "reference"]
    assert {member.targets for member in model.set_params(targets="means")._members()} == {"means"}


def test_seeds_share_no_member() -> None:
    seeds = [member.random_state for seed in range(20) for member in AveragedAnaCP(random_state=seed)._members()]
    assert len(set(seeds)) == len(seeds)


def test_moments_are_kept_once() -> None:
    x, y = rows()
    names = [part.name for part in AveragedAnaCP(**SETTING).partial_fit(x, y).parts()]
    assert sum("means" in name for name in names) == 1


@pytest.mark.parametrize("solved", [True, False])
def test_a_file_goes_on_learning(solved: bool, tmp_path) -> None:
    x, y = rows()
    model = AveragedAnaCP(**SETTING).partial_fit(x[y < 5], y[y < 5])
    (model.solve() if solved else model).save(tmp_path / "model", exact=True)
    again = load(tmp_path / "model").partial_fit(x[y == 5], y[y == 5])
    whole = model.partial_fit(x[y == 5], y[y == 5])
    np.testing.assert_allclose(again.decision_function(x), whole.decision_function(x), atol=1e-4)


def test_more_accurate_than_one() -> None:
    sample = load_sample("cifar100")
    rows = sample.x_train, sample.y_train
    gains = [
        AveragedAnaCP(n_projected=500, random_state=seed).fit(*rows).score(sample.x_test, sample.y_test)
        - AnaCP(n_projected=500, random_state=seed).fit(*rows).score(sample.x_test, sample.y_test)
        for seed in range(3)
    ]
    assert np.mean(gains) > 0.01
