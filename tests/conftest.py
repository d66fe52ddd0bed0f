import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from anacp.datasets import Card, Dataset, Examples
from anacp.learners import LEARNERS

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


@pytest.fixture
def own_registry() -> Iterator[None]:
    """A test may register learners of its own; no other test sees them."""
    before = dict(LEARNERS)
    yield
    LEARNERS.clear()
    LEARNERS.update(before)


def features_dataset(
    x_train: np.ndarray, y_train: np.ndarray, x_test: np.ndarray, y_test: np.ndarray, name: str = "features"
) -> Dataset:
    """Features as a data set."""
    card = Card(name, name, "features", "as given")
    return Dataset(name, "features", Examples(x_train, y_train), Examples(x_test, y_test), card)


def blobs(n_classes: int = 5, n_rows: int = 12, n_features: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes that overlap a little, in random order."""
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.repeat(np.arange(n_classes), n_rows))
    means = generator.normal(size=(n_classes, n_features)) * 2
    return means[y] + generator.normal(size=(len(y), n_features)), y
