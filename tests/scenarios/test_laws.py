"""The laws of a scenario, over every scenario registered: a new kind without an example here fails."""

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anacp.errors import AnacpError
from anacp.scenarios import SCENARIOS, Blurry, ClassIncremental, DomainIncremental, Online, Scenario, from_description

Make = Callable[[np.ndarray, np.ndarray, int], Scenario]

# What each is made of: labels, domains, seed.
EXAMPLES: dict[str, Make] = {
    "class-incremental": lambda y, d, seed: ClassIncremental(y, n_tasks=4, seed=seed),
    "class-incremental, sizes": lambda y, d, seed: ClassIncremental(y, sizes=[5, 1, 3], seed=seed),
    "class-incremental, seed1993": lambda y, d, seed: ClassIncremental(y, n_tasks=4, order="seed1993"),
    "class-incremental, alphabetical": lambda y, d, seed: ClassIncremental(y, sizes=[2, 7], order="alphabetical"),
    "class-incremental, explicit": lambda y, d, seed: ClassIncremental(y, n_tasks=2, order=np.unique(y)[::-1]),
    "domain-incremental": lambda y, d, seed: DomainIncremental(d, order="paper", seed=seed),
    "blurry": lambda y, d, seed: Blurry(ClassIncremental(y, n_tasks=4), share=0.3, seed=seed),
    "online": lambda y, d, seed: Online(ClassIncremental(y, n_tasks=4), seed=seed),
    "online, blurry": lambda y, d, seed: Online(
        Blurry(ClassIncremental(y, n_tasks=4), seed=1), batch_size=7, seed=seed
    ),
    "online, domains": lambda y, d, seed: Online(DomainIncremental(d), batch_size=1000, seed=seed),
}
SEEDED = [name for name in EXAMPLES if not any(order in name for order in ("1993", "alphabetical", "explicit"))]
every = pytest.mark.parametrize("name", EXAMPLES)


def rows_of_nine_classes(seed: int = 0, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    classes = np.concatenate([np.arange(9), generator.integers(9, size=n_rows)])
    domains = np.concatenate([np.arange(9) % 4, generator.integers(4, size=n_rows)])
    return np.array(list("ihgfedcba"))[classes], np.array(["clipart", "photo", "sketch", "toy"])[domains]


def outline(scenario: Scenario, y: np.ndarray, domains: np.ndarray) -> list[tuple[Any, ...]]:
    return [(task.index, task.stage, task.classes.tolist(), task.rows.tolist()) for task in scenario.tasks(y, domains)]


def global_states() -> list[Any]:
    return [random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()]  # noqa: NPY002


def test_every_kind_has_an_example() -> None:
    assert {name.split(",")[0] for name in EXAMPLES} == set(SCENARIOS)


@every
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), n_rows=st.integers(0, 60))
def test_every_row_is_in_exactly_one_task(name: str, seed: int, n_rows: int) -> None:
    y, domains = rows_of_nine_classes(seed, n_rows)
    scenario = EXAMPLES[name](y, domains, seed)
    for tasks in (list(scenario.tasks(y, domains)), list(scenario.test_tasks(y, domains))):
        np.testing.assert_array_equal(np.sort(np.concatenate([task.rows for task in tasks])), np.arange(len(y)))
        assert [task.index for task in tasks] == list(range(len(tasks)))
        for task in tasks:
            assert set(y[task.rows]) <= set(task.classes)
    assert sorted({task.stage for task in scenario.tasks(y, domains)}) == list(range(scenario.n_tasks))
    assert len(list(scenario.test_tasks(y, domains))) == scenario.n_tasks


@every
def test_seeds_reproduce_and_nothing_global_moves(name: str) -> None:
    y, domains = rows_of_nine_classes()
    before = global_states()
    first = outline(EXAMPLES[name](y, domains, 3), y, domains)
    assert global_states() == before
    random.random(), np.random.random(), torch.rand(1)  # noqa: NPY002 (moves all of them)
    assert global_states() != before
    assert outline(EXAMPLES[name](y, domains, 3), y, domains) == first


@pytest.mark.parametrize("name", SEEDED)
def test_seeds_matter(name: str) -> None:
    y, domains = rows_of_nine_classes()
    outlines = [outline(EXAMPLES[name](y, domains, seed), y, domains) for seed in range(3)]
    assert outlines[0] != outlines[1] or outlines[0] != outlines[2]


@every
@pytest.mark.parametrize("kind", ["text", "number"])
def test_a_description_makes_the_same_scenario(name: str, kind: str) -> None:
    y, domains = rows_of_nine_classes()
    if kind == "number":
        y = np.unique(y, return_inverse=True)[1].astype(np.int32)
    scenario = EXAMPLES[name](y, domains, 5)
    description = json.loads(json.dumps(scenario.describe()))
    again = from_description(description)
    assert type(again) is type(scenario)
    assert again.describe() == description
    assert outline(again, y, domains) == outline(scenario, y, domains)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda y: ClassIncremental(y, n_tasks=10), "between 1 and 9 tasks"),
        (lambda y: ClassIncremental(y, n_tasks=0), "between 1 and 9 tasks"),
        (lambda y: ClassIncremental(y, n_tasks=2.5), "`n_tasks` to be a whole number"),
        (lambda y: ClassIncremental([], n_tasks=1), "at least one class"),
        (lambda y: ClassIncremental(y, sizes=[4, 4]), "add up to the 9 classes"),
        (lambda y: ClassIncremental(y, sizes=[9, 0]), "`sizes` to be a whole number of at least 1"),
        (lambda y: ClassIncremental(y, sizes=[4, 5], n_tasks=3), "`n_tasks` or `sizes`"),
        (lambda y: ClassIncremental(y, n_tasks=2, order="alphabetic"), "Did you mean 'alphabetical'"),
        (lambda y: ClassIncremental(y, n_tasks=2, order=list("abcdefgh")), r"each of the 9 labels once.*\['i'\]"),
        (lambda y: ClassIncremental(y, n_tasks=2, order=list("aabcdefgh")), "each of the 9 labels once"),
        (lambda y: ClassIncremental(y, n_tasks=2, seed="zero"), "`seed` to be a whole number"),
        (lambda y: list(ClassIncremental(y[y != "a"], n_tasks=2).tasks(y)), "8 classes.*got others as well: 'a'"),
        (lambda y: DomainIncremental([]), "at least one domain"),
        (lambda y: list(DomainIncremental(["x"]).tasks(y)), r"one domain for each.*got none"),
        (lambda y: list(DomainIncremental(["x"]).tasks(y, ["x"])), r"one domain for each.*got shape \(1,\)"),
        (lambda y: list(DomainIncremental(["x"]).tasks(y, ["z"] * len(y))), "1 domains.*'z'"),
        (lambda y: Blurry(ClassIncremental(y, n_tasks=2), share=1.5), "`share` to be a number from 0 to 1"),
        (lambda y: Blurry(ClassIncremental(y, n_tasks=1)), "at least 2 tasks"),
        (lambda y: Blurry(DomainIncremental(y)), "ClassIncremental scenario to blur, got DomainIncremental"),
        (lambda y: Online(ClassIncremental(y, n_tasks=2), batch_size=0), "`batch_size` to be a whole number"),
        (lambda y: Online(Online(ClassIncremental(y, n_tasks=2))), "cut into batches, got Online"),
        (lambda y: from_description({"scenario": "blury"}), "Did you mean 'blurry'"),
        (lambda y: from_description({"scenario": "blurry", "share": 0.1}), "settings of a blurry scenario"),
        (lambda y: from_description({}), "Unknown scenario ''"),
    ],
)
def test_what_cannot_be_is_refused(wrong: Callable[[np.ndarray], Any], message: str) -> None:
    with pytest.raises(AnacpError, match=message):
        wrong(rows_of_nine_classes()[0])
