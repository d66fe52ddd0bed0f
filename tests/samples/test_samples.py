from importlib.resources import files

import numpy as np
import pytest
import torch

import anacp
from anacp.errors import UnknownNameError
from anacp.samples import dequantize, quantize


@pytest.mark.parametrize(
    ("name", "n_classes", "n_train", "n_test", "n_features", "n_unknown"),
    [("clinc150", 150, 100, 30, 384, 1000), ("cifar100", 100, 50, 20, 1280, 0)],
)
def test_contents(name: str, n_classes: int, n_train: int, n_test: int, n_features: int, n_unknown: int) -> None:
    sample = anacp.load_sample(name)
    for x, y, count in ((sample.x_train, sample.y_train, n_train), (sample.x_test, sample.y_test, n_test)):
        classes, counts = np.unique(y, return_counts=True)
        assert len(classes) == n_classes
        assert set(counts) == {count}
        assert x.shape == (n_classes * count, n_features)
        assert x.dtype == np.float32
    assert sample.x_unknown.shape == (n_unknown, n_features)
    assert "licence" in " ".join(sample.card)


def test_together_they_stay_small() -> None:
    folder = files("anacp.samples")
    assert sum(len((folder / f"{name}.safetensors").read_bytes()) for name in ("clinc150", "cifar100")) <= 18e6


def test_eight_bits_are_half_a_step_away() -> None:
    x = torch.randn(50, 6, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [1e-3, 1.0, 10.0, 0.0, 5.0, 100.0]
    )
    codes, scales = quantize(x)
    assert codes.dtype == torch.int8
    assert ((dequantize(codes, scales) - x).abs() <= scales / 2 * 1.001).all()


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="Known: cifar100, clinc150"):
        anacp.load_sample("mnist")


def test_eight_bits_cost_nothing_on_real_features(shared) -> None:
    """The sample's rows, before and after 8 bits, through the same learners: less than 0.1 point apart."""
    arrays = np.load(shared / "data" / "cifar100_lite0.npz")

    def first(split: str, count: int) -> tuple[np.ndarray, np.ndarray]:
        x, y = arrays[f"x{split}"].astype(np.float32), arrays[f"y{split}"]
        rows = np.concatenate([np.flatnonzero(y == c)[:count] for c in np.unique(y)])
        return x[rows], arrays["classes"][y[rows]]

    sample = anacp.load_sample("cifar100")
    (x_train, y_train), (x_test, y_test) = first("tr", 50), first("te", 20)
    np.testing.assert_array_equal(y_train, sample.y_train)
    differences = []
    for seed in range(12):
        exact = anacp.AnaCP(n_projected=1000, random_state=seed).fit(x_train, y_train)
        rounded = anacp.AnaCP(n_projected=1000, random_state=seed).fit(sample.x_train, sample.y_train)
        differences.append((exact.predict(x_test) == y_test).mean() - (rounded.predict(sample.x_test) == y_test).mean())
    assert 100 * abs(np.mean(differences)) < 0.1
