"""The way from image files to a classifier, on real photographs and real weights."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.preprocessing import normalize
from torch.nn import functional

from anacp import NCM
from anacp.backbones import backbone
from anacp.encoders import Encoder, FeatureStore
from anacp.items import open_image
from tests.backbones.models import needs_lite0

pytestmark = needs_lite0
N_CLASSES = 5


@pytest.fixture
def cifar(shared, tmp_path) -> Path:
    """PNGs of every twentieth class."""
    with zipfile.ZipFile(shared / "data" / "cifar100_images.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".png")]
        classes = sorted({name.split("/")[1] for name in names})[:: 100 // N_CLASSES]
        archive.extractall(tmp_path / "cifar", [name for name in names if name.split("/")[1] in classes])
    return tmp_path / "cifar"


def test_images_to_predictions(cifar, tmp_path) -> None:
    lite0, store = Encoder("efficientnet-lite0"), FeatureStore(tmp_path / "store")
    parts = {}
    for split in ("train", "test"):
        files = sorted((cifar / split).rglob("*.png"))
        result = lite0.encode(files, store=store)
        parts[split] = result.x, np.array([path.parent.name for path in files])
    assert len(parts["train"][0]) == 20 * N_CLASSES
    accuracy = NCM().partial_fit(*parts["train"]).score(*parts["test"])
    assert accuracy > 0.85  # chance is 0.2


def test_reference_features_are_found_again(cifar, shared) -> None:
    """The reference rows were resized by torch's bicubic kernel, clamped; the rest of the pipeline is the preset's."""
    reference = np.load(shared / "data" / "cifar100_lite0.npz")
    known = np.concatenate([reference["xtr"], reference["xte"]]).astype(np.float32)
    lite0 = backbone("efficientnet-lite0")
    files = sorted(cifar.rglob("*.png"))[::2]
    cosines = normalize(lite0.encode(files)) @ normalize(known).T
    nearest, found = cosines.argmax(1), np.flatnonzero(cosines.max(1) > 0.97)  # the others are not in the reference
    assert len(found) >= 10
    sources = torch.from_numpy(np.stack([np.asarray(open_image(files[row]), np.float32) for row in found]))
    resized = functional.interpolate(sources.permute(0, 3, 1, 2), size=(224, 224), mode="bicubic").clamp(0, 255)
    with torch.inference_mode():
        exact = lite0.module().eval().extract_features((resized - 127) / 128).mean((2, 3)).numpy()
    np.testing.assert_allclose(exact, known[nearest[found]], atol=4e-3)  # the reference is kept in 16 bits
