"""The choice of λ: each criterion against a loop over dense solves, its guard, and its warning."""

import numpy as np
import pytest
import torch

from anacp import GACL, AnaCP, RanPAC
from anacp.errors import ParameterError, RidgeEdgeWarning
from anacp.learners.ridge_choice import LARGEST_SHARE_OF_FREEDOM, RIDGES, _best
from anacp.projections import RandomProjection
from anacp.statistics import rows_in
from tests.conftest import blobs


def noisy(n_rows: int = 60, n_features: int = 8, noise: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    x, y = blobs(n_rows=n_rows, n_features=n_features)
    return x + noise * np.random.default_rng(1).normal(size=x.shape), y


def features(x: np.ndarray, n_projected: int) -> np.ndarray:
    projection = RandomProjection(x.shape[1], n_projected, "relu", 0, "projection", dtype=torch.float64)
    return np.maximum(x @ projection.matrix.numpy(), 0)


def weights(z: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    return np.linalg.solve(z.T @ z + ridge * np.eye(z.shape[1]), z.T @ np.eye(5)[y])


def fitted_and_held(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    index = torch.arange(len(x))
    return tuple(rows_in(fold, torch.tensor(x), index)[1].numpy() for fold in ("fitted", "held out"))


@pytest.mark.parametrize("n_projected", [20, 200, 2000])  # many rows for the features, and few
def test_squared_error_is_measured_on_held_out_rows(n_projected: int) -> None:
    x, y = noisy()
    z = features(x, n_projected)
    fitted, held = fitted_and_held(x)
    assert 0.1 < len(held) / len(x) < 0.3
    assert len(fitted) + len(held) == len(x)
    errors = [((z[held] @ weights(z[fitted], y[fitted], ridge) - np.eye(5)[y[held]]) ** 2).sum() for ridge in RIDGES]
    model = RanPAC(n_projected=n_projected, dtype="float64").fit(x, y)
    assert model.ridge_ == RIDGES[int(np.argmin(errors))]
    np.testing.assert_allclose(model.decision_function(x), z @ weights(z, y, model.ridge_), rtol=1e-6, atol=1e-7)


def test_a_smooth_error_is_followed_until_it_has_risen_twice() -> None:
    errors = {1e0: 5.0, 1e1: 4.0, 1e2: 4.02, 1e3: 4.5, 1e4: 5.0, 1e5: 1.0}  # 4.02 might be rounding
    tried: list[float] = []

    def error(ridge: float) -> float:
        tried.append(ridge)
        return errors[ridge]

    assert _best(list(errors), error, until_it_rises=True) == 1e1
    assert tried == [1e0, 1e1, 1e2, 1e3, 1e4]
    assert _best(list(errors), error) == 1e5


def test_accuracy_is_measured_on_held_out_rows() -> None:
    x, y = noisy()
    z = features(x, 200)
    fitted, held = fitted_and_held(x)
    mistakes = [((z[held] @ weights(z[fitted], y[fitted], r)).argmax(1) != y[held]).mean() for r in RIDGES]
    best = max(ridge for ridge, value in zip(RIDGES, mistakes, strict=True) if value == min(mistakes))
    model = GACL(n_projected=200, ridge="accuracy", dtype="float64").fit(x, y)
    assert model.ridge_ == best
    np.testing.assert_allclose(model.decision_function(x), z @ weights(z, y, best), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("n_projected", [20, 200, 900])
def test_generalised_cross_validation_is_guarded(n_projected: int) -> None:
    x, y = noisy()
    z, n = features(x, n_projected), len(x)
    errors, freedoms = [], []
    for ridge in RIDGES:
        hat = z @ np.linalg.solve(z.T @ z + ridge * np.eye(n_projected), z.T)
        freedoms.append(np.trace(hat))
        errors.append(n * ((np.eye(5)[y] - hat @ np.eye(5)[y]) ** 2).sum() / (n - freedoms[-1]) ** 2)
    allowed = [i for i in range(len(RIDGES)) if freedoms[i] <= LARGEST_SHARE_OF_FREEDOM * n]
    model = GACL(n_projected=n_projected, ridge="gcv", dtype="float64").fit(x, y)
    assert model.ridge_ == RIDGES[min(allowed, key=errors.__getitem__)]
    if n_projected == 900:  # more features than rows: the guard is what keeps the smallest λ out
        assert len(allowed) < len(RIDGES)


def test_a_choice_at_the_edge_warns() -> None:
    generator = np.random.default_rng(0)
    x, y = 1e5 * generator.normal(size=(80, 8)), generator.integers(0, 5, 80)  # labels that nothing explains
    with pytest.warns(RidgeEdgeWarning, match=r"ridge 1e\+08 is at the edge of its grid, 1e-08 to 1e\+08"):
        GACL(n_projected=20, ridge="gcv", dtype="float64").fit(x, y).solve()


def test_a_criterion_that_holds_out_is_fixed_once_learned() -> None:
    x, y = noisy()
    model = GACL(n_projected=50).fit(x, y)
    model.set_params(ridge="gcv").predict(x)
    model.set_params(ridge=3.0).predict(x)
    with pytest.raises(ParameterError, match="ridge as when learning began"):
        model.set_params(ridge="squared error").predict(x)


def test_anacp_chooses_a_ridge_for_its_heads() -> None:
    x, y = noisy()
    model = AnaCP(n_projected=100, ridge="squared error", classifier_ridge="gcv").fit(x, y)
    assert model.score(x, y) > 0.4
    with pytest.raises(ParameterError, match="replay has no examples to hold out"):
        AnaCP(classifier_ridge="accuracy").fit(x, y)


def test_the_row_decides_its_fold() -> None:
    x, _ = noisy()
    rows, index = torch.tensor(x), torch.arange(len(x))
    held = rows_in("held out", rows, index)[1]
    alone = torch.cat([rows_in("held out", rows[i : i + 1], index[i : i + 1])[1] for i in reversed(range(len(x)))])
    assert held.tolist() == sorted(alone.tolist())
