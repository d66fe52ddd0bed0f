"""The structured projection: what a dense one does, at less work, the same everywhere."""

import numpy as np
import pytest
import torch

from anacp.projections import RandomProjection, StructuredProjection
from anacp.projections.structure import GROUP_WIDTH


def made(n_features: int, n_outputs: int = 300, seed: int = 0) -> StructuredProjection:
    return StructuredProjection(n_features, n_outputs, "gelu", seed, "test", dtype=torch.float64)


@pytest.mark.parametrize("n_features", [1, 2, 5, 64, 100, 384, 509, 768, 1280])
def test_it_is_linear_and_its_adjoint_is_one(n_features: int) -> None:
    projection = made(n_features)
    x = torch.randn(7, n_features, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y = torch.randn(7, 300, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert projection.matrix.shape == (n_features, 300)
    torch.testing.assert_close(projection.linear(x), x @ projection.matrix)
    np.testing.assert_allclose(projection.structure.linear(x.numpy()), projection.linear(x).numpy(), atol=1e-12)
    torch.testing.assert_close(projection.adjoint(y), y @ projection.matrix.mT)
    variances = (projection.matrix * (x.mT @ x @ projection.matrix)).sum(0)
    torch.testing.assert_close(projection.variances(x.mT @ x), variances)


@pytest.mark.parametrize("n_features", [64, 384, 768, 1280])
def test_outputs_vary_as_those_of_a_dense_matrix(n_features: int) -> None:
    """Inner products of inputs are kept by both as well as by each other; every output sees the whole input."""
    generator = torch.Generator().manual_seed(0)
    x = torch.nn.functional.normalize(torch.randn(40, n_features, generator=generator, dtype=torch.float64), dim=1)
    x[:, 0] += 2  # not all directions alike
    errors = {}
    for kind in (StructuredProjection, RandomProjection):
        outputs = kind(n_features, 5000, "identity", 0, "test", dtype=torch.float64).linear(x)
        errors[kind] = float((outputs @ outputs.mT / 5000 - x @ x.mT).abs().max())
    assert errors[StructuredProjection] < 2 * errors[RandomProjection] + 0.02
    matrix = made(n_features, 5000).matrix
    assert float((matrix != 0).double().mean()) > 0.95
    assert abs(float(matrix.var()) - 1) < 0.05


def test_numbers_are_the_same_on_every_machine() -> None:
    projection = made(100).structure
    assert projection.signs[:8].tolist() == [-1, -1, -1, -1, -1, -1, -1, 1]
    assert projection.entries[0, 0, :4].tolist() == [235, -5, -145, -113]
    assert abs(projection.entries.astype(float).std() * projection.scale - 2**0.5) < 0.02
    assert projection.entries.max() <= 2048  # exact in half precision, as exports keep them


def test_seed_and_role_change_everything() -> None:
    one, other = made(200).matrix, made(200, seed=1).matrix
    renamed = StructuredProjection(200, 300, "gelu", 0, "another", dtype=torch.float64).matrix
    for matrix in (other, renamed):
        assert abs(float(torch.corrcoef(torch.stack([one.flatten(), matrix.flatten()]))[0, 1])) < 0.02


def test_the_work_is_a_fraction_of_a_dense_product() -> None:
    """Counted, not timed: multiplications for one row."""
    projection = made(1280, 5000).structure
    mixing = projection.n_groups * 1280
    groups = int(np.prod(projection.entries.shape))
    assert mixing + groups < 1280 * 5000 / 15
    assert GROUP_WIDTH / 2 <= projection.width <= 2 * GROUP_WIDTH
