from pathlib import Path

import pytest

from tests.reports.made import write_features


@pytest.fixture
def features(tmp_path: Path) -> str:
    """Features of six classes, 20 training and 10 test rows each."""
    return write_features(tmp_path / "blobs.npz", n_classes=6)
