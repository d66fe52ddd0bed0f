import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from anacp.backbones import Backbone
from anacp.catalogue import METHODS
from anacp.datasets import Card, Dataset, Examples
from anacp.testing import blobs

__all__ = ["SHARED", "blobs", "features_dataset"]

# What lands is judged by the same examples every time; elsewhere hypothesis looks for new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.fixture(scope="session", autouse=True)
def anacp_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Exported networks and features of the tests go to a folder of their own, never to the user's."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("anacp-home")
        patch.setenv("ANACP_HOME", str(folder))
        yield folder


@pytest.fixture
def shared() -> Path:
    """The folder of reference data beside the repository; a test that needs it skips without it."""
    if not SHARED.is_dir():
        pytest.skip("needs reference data in ../shared, which is not part of the repository")
    return SHARED


@pytest.fixture(scope="session")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Backbone]:
    """A small transformer of a kind; frozen, so that all tests share it."""
    from tests.adaptation.models import tiny

    folder = tmp_path_factory.mktemp("networks")
    return cache(lambda kind, engine="torch": tiny(kind, folder, engine))


@pytest.fixture
def own_registry() -> Iterator[None]:
    """A test may register learners of its own; no other test sees them."""
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


def features_dataset(
    x_train: np.ndarray, y_train: np.ndarray, x_test: np.ndarray, y_test: np.ndarray, name: str = "features"
) -> Dataset:
    """Features as a data set."""
    card = Card(name, name, "features", "as given")
    return Dataset(name, "features", Examples(x_train, y_train), Examples(x_test, y_test), card)
