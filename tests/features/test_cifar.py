"""The way from image files to a classifier, on real photographs and real weights."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from anacp import NCM
from anacp.backbones import backbone
from anacp.features import FeatureStore, features_of
from tests.backbones.models import needs_lite0

pytestmark = needs_lite0
N_CLASSES = 20


@pytest.fixture
def cifar(shared, tmp_path) -> Path:
    """PNGs of every fifth class."""
    with zipfile.ZipFile(shared / "data" / "cifar100_images.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".png")]
        classes = sorted({name.split("/")[1] for name in names})[::5]
        archive.extractall(tmp_path / "cifar", [name for name in names if name.split("/")[1] in classes])
    return tmp_path / "cifar"


def test_images_to_predictions(cifar, shared, tmp_path) -> None:
    lite0, store = backbone("efficientnet-lite0"), FeatureStore(tmp_path / "store")
    parts = {}
    for split in ("train", "test"):
        files = sorted((cifar / split).rglob("*.png"))
        result = features_of(lite0, files, store=store)
        parts[split] = result.x, np.array([path.parent.name for path in files])
    assert len(parts["train"][0]) == 20 * N_CLASSES
    accuracy = NCM().partial_fit(*parts["train"]).score(*parts["test"])
    assert accuracy > 0.6  # chance is 0.05

    # Some of these photographs are among the reference features, made by another pipeline (torch's bicubic kernel
    # instead of Pillow's): their rows are found again, nearly identical.
    reference = np.load(shared / "data" / "cifar100_lite0.npz")
    known = np.concatenate([reference["xtr"], reference["xte"]]).astype(np.float32)
    labels = reference["classes"][np.concatenate([reference["ytr"], reference["yte"]])]
    x, y = (np.concatenate(pair) for pair in zip(*parts.values(), strict=True))
    cosines = (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (known / np.linalg.norm(known, axis=1, keepdims=True)).T
    found = cosines.max(1) > 0.97
    assert found.sum() >= 100
    assert (labels[cosines.argmax(1)[found]] == y[found]).mean() > 0.99
