from pathlib import Path

import pytest

from anacp.encoders import FeatureStore
from tests.encoders.counting import image_files


@pytest.fixture
def files(tmp_path) -> list[Path]:
    return image_files(tmp_path / "images", 20)


@pytest.fixture
def store(tmp_path) -> FeatureStore:
    return FeatureStore(tmp_path / "store")
