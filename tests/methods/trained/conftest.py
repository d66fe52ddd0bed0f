import copy
from collections.abc import Callable
from functools import cache

import pytest

from anacp.backbones import Backbone
from anacp.methods.trained import TrainedMethod
from tests.methods.trained.models import FIRST, SECOND, make, task


@pytest.fixture(scope="session")
def encoder(transformer: Callable[..., Backbone]) -> Backbone:
    return transformer("bert")


@pytest.fixture(scope="session")
def taught(encoder: Backbone) -> Callable[..., TrainedMethod]:
    """A method after one or two tasks: taught once for all tests, of which each gets a copy to go on with."""

    @cache
    def teach(name: str, n_tasks: int) -> TrainedMethod:
        model = make(name, encoder) if n_tasks == 1 else copy.copy(teach(name, 1))
        model.learn(*task((FIRST, SECOND)[n_tasks - 1]))
        return model

    return lambda name, n_tasks=1: copy.copy(teach(name, n_tasks))
