"""What is particular to each scenario."""

import numpy as np
import pytest

from anacp.scenarios import Blurry, ClassIncremental, DomainIncremental, Online

CLASSES = [f"class {i:02}" for i in range(23)]
Y = np.repeat(CLASSES, 20)


def test_paper_order_in_slices_when_sizes_are_given() -> None:
    strided = np.concatenate([group[:1] for group in ClassIncremental(CLASSES, n_tasks=23, seed=2).groups])
    first, second = ClassIncremental(CLASSES, sizes=[3, 20], seed=2).groups
    np.testing.assert_array_equal(np.concatenate([first, second]), strided)
    assert len(first) == 3


def test_seed_1993_is_the_order_of_other_toolkits() -> None:
    # The first entries of numpy.random.seed(1993); numpy.random.permutation(100), as the PyCIL family draws them.
    order = np.concatenate(ClassIncremental(range(100), n_tasks=10, order="seed1993").groups)
    assert order[:10].tolist() == [68, 56, 78, 8, 23, 84, 90, 65, 74, 76]


def test_unequal_sizes_and_remainders() -> None:
    assert [len(task.classes) for task in ClassIncremental(CLASSES, sizes=[13, 5, 5])] == [13, 5, 5]
    groups = ClassIncremental(CLASSES, n_tasks=10, order="alphabetical").groups
    assert [len(group) for group in groups] == [3, 3, 3, 2, 2, 2, 2, 2, 2, 2]
    assert np.concatenate(groups).tolist() == CLASSES


def test_an_explicit_order_is_kept() -> None:
    scenario = ClassIncremental(CLASSES, n_tasks=2, order=CLASSES[::-1])
    assert np.concatenate(scenario.groups).tolist() == CLASSES[::-1]


def test_test_rows_may_lack_classes() -> None:
    tasks = list(ClassIncremental(CLASSES, n_tasks=23, order="alphabetical").tasks(["class 05"]))
    assert [len(task.rows) for task in tasks] == [int(i == 5) for i in range(23)]


def test_domains_share_classes() -> None:
    domains = np.tile(["photo", "sketch"], len(Y) // 2)
    first, second = DomainIncremental(domains, order=["sketch", "photo"]).tasks(Y, domains)
    assert first.classes.tolist() == second.classes.tolist() == CLASSES
    assert set(domains[first.rows]) == {"sketch"}


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_blur_moves_its_share_of_every_class(share: float) -> None:
    base = ClassIncremental(Y, n_tasks=5)
    scenario = Blurry(base, share=share)
    home = {label: task.index for task in base for label in task.classes}
    away = np.zeros(len(Y), bool)
    for task in scenario.tasks(Y):
        away[task.rows] = [home[label] != task.index for label in Y[task.rows]]
    assert {int(away[np.equal(Y, label)].sum()) for label in CLASSES} == {round(20 * share)}
    tests = zip(scenario.test_tasks(Y), base.tasks(Y), strict=True)
    assert all(np.array_equal(ours.rows, theirs.rows) for ours, theirs in tests)


def test_blurred_rows_go_everywhere() -> None:
    scenario = Blurry(ClassIncremental(Y, n_tasks=5), share=0.5)
    tasks = zip(scenario.tasks(Y), scenario.base, strict=True)
    visitors = [len(task.classes) - len(home.classes) for task, home in tasks]
    assert min(visitors) > 5


@pytest.mark.parametrize("batch_size", [1, 7, 10_000])
def test_batches_stay_within_their_task(batch_size: int) -> None:
    base = ClassIncremental(Y, n_tasks=5)
    batches = list(Online(base, batch_size=batch_size).tasks(Y))
    for task in base.tasks(Y):
        rows = [batch.rows for batch in batches if batch.stage == task.index]
        assert [len(batch) for batch in rows[:-1]] == [batch_size] * (len(rows) - 1)
        joined = np.concatenate(rows)
        np.testing.assert_array_equal(np.sort(joined), task.rows)
        assert joined.tolist() != task.rows.tolist()
    assert [batch.stage for batch in batches] == sorted(batch.stage for batch in batches)
