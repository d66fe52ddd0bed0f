"""Every analytic method against a direct computation of what it is meant to be."""

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from anacp import ELM, GACL, KLDA, NCM, SLDA, FeCAM, LinearProbe, LoRanPAC, RanPAC, Ridge
from anacp.errors import InputError, NumericalError, ParameterError
from anacp.projections import FourierProjection, RandomProjection
from tests.conftest import blobs


def one_hot(y: np.ndarray) -> np.ndarray:
    return np.eye(y.max() + 1)[y]


def relu_features(x: np.ndarray, n_projected: int) -> np.ndarray:
    projection = RandomProjection(x.shape[1], n_projected, "relu", 0, "projection", dtype=torch.float64)
    return np.maximum(x @ projection.matrix.numpy(), 0)


def test_slda_is_linear_discriminant_analysis() -> None:
    x, y = blobs(n_rows=40)
    model = SLDA(shrinkage=1e-12, dtype="float64").fit(x, y)
    reference = LinearDiscriminantAnalysis(solver="lsqr", priors=np.full(5, 0.2)).fit(x, y)
    # Scikit-learn divides the scatter by N, and adds the logarithm of the prior.
    ours = model.decision_function(x) * len(x) / (len(x) - 5)
    np.testing.assert_allclose(ours, reference.decision_function(x) - np.log(0.2), rtol=1e-6, atol=1e-6)


def test_slda_as_first_published() -> None:
    x, y = blobs()
    means = np.array([x[y == c].mean(0) for c in range(5)])
    scatter = (x - means[y]).T @ (x - means[y])
    inverse = np.linalg.inv(0.9 * scatter / len(x) + 0.1 * np.eye(8))
    expected = x @ inverse @ means.T - 0.5 * np.einsum("cd,de,ce->c", means, inverse, means)
    model = SLDA(shrinkage=0.1, blend=True, dtype="float64").fit(x, y)
    np.testing.assert_allclose(model.decision_function(x), expected, rtol=1e-9)


@pytest.mark.parametrize("make", [GACL, RanPAC])
def test_random_feature_ridge_is_a_dense_solve(make: type) -> None:
    x, y = blobs()
    z = relu_features(x, 70)
    weights = np.linalg.solve(z.T @ z + 3.0 * np.eye(70), z.T @ one_hot(y))
    model = make(n_projected=70, ridge=3.0, dtype="float64").fit(x, y)
    np.testing.assert_allclose(model.decision_function(x), z @ weights, rtol=1e-8, atol=1e-9)


def test_gacl_is_recursive_least_squares() -> None:
    """The published recursion, one batch after another, ends at the same weights."""
    x, y = blobs()
    z, targets = relu_features(x, 30), one_hot(y)
    inverse, weights = np.eye(30) / 2.0, np.zeros((30, 5))
    for rows in np.array_split(np.arange(len(x)), 7):
        a = z[rows]
        inverse -= inverse @ a.T @ np.linalg.solve(np.eye(len(rows)) + a @ inverse @ a.T, a @ inverse)
        weights += inverse @ a.T @ (targets[rows] - a @ weights)
    model = GACL(n_projected=30, ridge=2.0, dtype="float64").fit(x, y)
    np.testing.assert_allclose(model.decision_function(x), z @ weights, rtol=1e-7, atol=1e-8)


def test_elm_is_anacp_without_heads() -> None:
    from anacp import AnaCP

    x, y = blobs()
    elm = ELM(n_projected=40, ridge=2.0, dtype="float64").fit(x, y)
    projection = RandomProjection(8, 40, "gelu", 0, "projection", dtype=torch.float64)
    unit = torch.nn.functional.normalize(torch.tensor(x), dim=1)
    z = projection(unit).numpy()
    expected = z @ np.linalg.solve(z.T @ z + 2.0 * np.eye(40), z.T @ one_hot(y))
    np.testing.assert_allclose(elm.decision_function(x), expected, rtol=1e-8, atol=1e-10)
    plain = AnaCP(n_projected=40, n_heads=0, classifier_ridge=2.0, dtype="float64").fit(x, y)
    assert np.corrcoef(plain.decision_function(x).ravel(), expected.ravel())[0, 1] > 0.8  # other draws, same method


def test_ridge_has_an_intercept() -> None:
    x, y = blobs()
    z = np.column_stack([x + 100, np.ones(len(x))])
    expected = z @ np.linalg.solve(z.T @ z + 0.5 * np.eye(9), z.T @ one_hot(y))
    model = Ridge(ridge=0.5, dtype="float64").fit(x + 100, y)
    np.testing.assert_allclose(model.decision_function(x + 100), expected, rtol=1e-6, atol=1e-7)


def exact_kernel_scores(
    x: np.ndarray, y: np.ndarray, queries: np.ndarray, gamma: float, shrinkage: float
) -> np.ndarray:
    """KLDA with infinitely many features: by Woodbury's identity only kernel values are needed."""

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(-gamma * ((a[:, None] - b[None]) ** 2).sum(-1))

    averaging = one_hot(y) / one_hot(y).sum(0)  # (n, c): means = averagingᵀ Φ
    centring = np.eye(len(x)) - averaging @ one_hot(y).T  # rows of centringᵀ Φ are φ(x_i) - μ_{c(i)}
    gram, cross = kernel(x, x), kernel(queries, x)
    centred = centring.T @ gram @ centring

    def inner(left: np.ndarray, left_centred: np.ndarray, right_centred: np.ndarray) -> np.ndarray:
        solved = np.linalg.solve(shrinkage * np.eye(len(x)) + centred, right_centred.T)
        return (left - left_centred @ solved) / shrinkage

    means_centred = averaging.T @ gram @ centring
    of_queries = inner(cross @ averaging, cross @ centring, means_centred)
    of_means = inner(averaging.T @ gram @ averaging, means_centred, means_centred)
    return of_queries - 0.5 * np.diag(of_means)


def test_klda_tends_to_the_exact_kernel() -> None:
    x, y = blobs(n_rows=8, n_features=4)
    queries = x[:20] + 0.1
    exact = exact_kernel_scores(x, y, queries, 0.05, 0.5)
    errors = []
    for n_projected in (200, 3200, 51_200):
        z = FourierProjection(4, n_projected, 0.05, 0, "member 0", dtype=torch.float64)(torch.tensor(x)).numpy()
        means = np.array([z[y == c].mean(0) for c in range(5)])
        assert z.shape[1] == n_projected
        if n_projected <= 3200:  # the class itself, which keeps an (m, m) scatter
            model = KLDA(n_projected=n_projected, gamma=0.05, shrinkage=0.5, dtype="float64").fit(x, y)
            scores = model.decision_function(queries)
        else:  # the same numbers through the dual, for a size whose scatter would not fit
            deviations = z - means[y]
            dual = np.linalg.inv(0.5 * np.eye(len(x)) + deviations @ deviations.T)
            weights = (means.T - deviations.T @ (dual @ (deviations @ means.T))) / 0.5
            features = FourierProjection(4, n_projected, 0.05, 0, "member 0", dtype=torch.float64)
            scores = features(torch.tensor(queries)).numpy() @ weights - 0.5 * (means.T * weights).sum(0)
        errors.append(np.sqrt(np.mean((scores - exact) ** 2)))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < errors[0] / 6  # 256 times the features: a sixteenth of the error is expected
    assert errors[2] < 0.02 * np.abs(exact).max()


def test_klda_ensemble_sums_softmaxes() -> None:
    x, y = blobs()
    ensemble = KLDA(n_projected=50, gamma=0.01, n_members=3, dtype="float64").fit(x, y)
    total = 0
    for member in range(3):
        features = FourierProjection(8, 50, 0.01, 0, f"member {member}", dtype=torch.float64)
        z = features(torch.tensor(x)).numpy()
        means = np.array([z[y == c].mean(0) for c in range(5)])
        scatter = (z - means[y]).T @ (z - means[y]) + 1e-3 * np.eye(50)
        gaps = z[:, None] - means[None]
        distances = np.einsum(
            "ncd,ncd->nc", gaps, np.linalg.solve(scatter, gaps.reshape(-1, 50).T).T.reshape(gaps.shape)
        )
        total = total + torch.softmax(torch.tensor(-0.5 * distances), 1).numpy()
    np.testing.assert_allclose(ensemble.decision_function(x), total, atol=1e-8)


@pytest.mark.parametrize("covariance", ["class", "shared"])
@pytest.mark.parametrize(("first", "second"), [(1.0, 0.0), (10.0, 10.0)])
def test_fecam_is_its_formula(covariance: str, first: float, second: float) -> None:
    x, y = blobs()
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    means = np.array([unit[y == c].mean(0) for c in range(5)])
    expected = np.empty((len(x), 5))
    for c in range(5):
        rows = unit - means[y] if covariance == "shared" else unit[y == c] - means[c]
        matrix = rows.T @ rows / len(rows)
        diagonal, off_diagonal = np.diag(matrix).mean(), matrix[~np.eye(8, dtype=bool)].mean()
        matrix = matrix + first * diagonal * np.eye(8) + second * off_diagonal * (1 - np.eye(8))
        deviations = np.sqrt(np.diag(matrix))
        inverse = np.linalg.inv(matrix / np.outer(deviations, deviations))
        expected[:, c] = -np.einsum("nd,de,ne->n", unit - means[c], inverse, unit - means[c])
    model = FeCAM(shrinkage=first, off_diagonal_shrinkage=second, covariance=covariance, dtype="float64").fit(x, y)
    np.testing.assert_allclose(model.decision_function(x), expected, rtol=1e-8, atol=1e-10)


def test_fecam_takes_the_pooled_covariance_for_a_class_of_one() -> None:
    x, y = blobs()
    lonely = np.concatenate([np.flatnonzero(y != 4), np.flatnonzero(y == 4)[:1]])
    model = FeCAM(dtype="float64").fit(x[lonely], y[lonely])
    assert np.isfinite(model.decision_function(x)).all()
    assert (model.predict(x[y == 4]) == 4).any()


def test_fecam_refuses_a_power_of_negative_features() -> None:
    x, y = blobs()
    model = FeCAM(tukey=0.5).fit(np.abs(x), y)
    before = model.decision_function(np.abs(x))
    with pytest.raises(InputError, match=r"≥ 0 for the Tukey power 0\.5, got -"):
        model.partial_fit(x, y)
    np.testing.assert_array_equal(model.decision_function(np.abs(x)), before)
    roots = FeCAM().fit(np.sqrt(np.abs(x)), y)
    np.testing.assert_allclose(before, roots.decision_function(np.sqrt(np.abs(x))), rtol=1e-3, atol=1e-3)


def test_fecam_forgets_factors_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs()
    expected = FeCAM(dtype="float64").fit(x, y).decision_function(x)
    monkeypatch.setattr("anacp.learners.fecam.KEPT_BYTES", 2 * 8 * 8 * 8)
    model = FeCAM(dtype="float64").fit(x, y)
    np.testing.assert_array_equal(model.decision_function(x), expected)
    assert len(model._knowledge.solved.solution.kept.roots) == 2


def test_fecam_factors_a_class_again_only_when_it_changed() -> None:
    x, y = blobs()
    model = FeCAM(dtype="float64").fit(x[y < 3], y[y < 3])
    model.predict(x)
    before = dict(model._knowledge.solved.solution.kept.roots)
    model.partial_fit(x[y == 3], y[y == 3]).partial_fit(x[y == 0][:1], [0])
    model.predict(x)
    after = model._knowledge.solved.solution.kept.roots
    assert len(before.keys() & after.keys()) == 2
    assert len(after) == 4
    rows = np.concatenate([np.flatnonzero(y < 4), np.flatnonzero(y == 0)[:1]])
    np.testing.assert_allclose(
        model.decision_function(x), FeCAM(dtype="float64").fit(x[rows], y[rows]).decision_function(x), rtol=1e-9
    )


@pytest.mark.parametrize("n_rows", [6, 40])
def test_loranpac_without_truncation_is_the_minimum_norm_solution(n_rows: int) -> None:
    x, y = blobs(n_rows=n_rows)  # 30 rows of 100 features, and 200 rows
    z = relu_features(x, 100)
    expected = relu_features(x[:9] + 0.3, 100) @ np.linalg.pinv(z) @ one_hot(y)
    model = LoRanPAC(n_projected=100, truncation=0.0, dtype="float64")
    for rows in np.array_split(np.arange(len(x)), 4):
        model.partial_fit(x[rows], y[rows]).solve()
    np.testing.assert_allclose(model.decision_function(x[:9] + 0.3), expected, rtol=1e-5, atol=1e-6)


def test_loranpac_keeps_the_largest_singular_values() -> None:
    x, y = blobs()
    z = relu_features(x, 100)
    u, s, v = np.linalg.svd(z, full_matrices=False)
    rank = 45  # (1 - 0.25)·60
    weights = v[:rank].T / s[:rank] @ u[:, :rank].T @ one_hot(y)
    model = LoRanPAC(n_projected=100, dtype="float64").fit(x, y)
    np.testing.assert_allclose(model.decision_function(x), z @ weights, rtol=1e-6, atol=1e-8)


def test_loranpac_keeps_what_matters_beyond_its_rank() -> None:
    x, y = blobs(n_rows=400)
    model = LoRanPAC(n_projected=300, max_rank=40)
    for rows in np.array_split(np.arange(len(x)), 5):
        model.partial_fit(x[rows], y[rows])
    basis = model.solve()._knowledge.memory.statistics["gram"].basis
    assert len(basis) <= 50
    torch.testing.assert_close(basis @ basis.mT, torch.eye(len(basis)), atol=1e-4, rtol=0)
    whole = LoRanPAC(n_projected=300, max_rank=300).fit(x, y)
    assert model.score(x, y) > whole.score(x, y) - 0.05


def test_linear_probe_tends_to_logistic_regression() -> None:
    x, y = blobs(n_rows=40)
    model = LinearProbe(n_epochs=400, weight_decay=0.01, dtype="float64").fit(x, y)
    # Scikit-learn sums losses and spares the intercept; ours averages them and decays both.
    reference = LogisticRegression(C=1 / (0.01 * len(x)), max_iter=1000).fit(x, y)
    agreement = (model.predict(x) == reference.predict(x)).mean()
    assert agreement > 0.97


def test_linear_probe_says_when_it_diverges() -> None:
    x, y = blobs()
    with pytest.raises(NumericalError, match="Lower it"):
        LinearProbe(learning_rate=1e30, weight_decay=1e30).fit(x, y).predict(x)


def test_ncm_is_the_cosine_to_the_mean() -> None:
    x, y = blobs()
    means = np.array([x[y == c].mean(0) for c in range(5)])
    cosines = (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    np.testing.assert_allclose(NCM(dtype="float64").fit(x, y).decision_function(x), cosines, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SLDA(shrinkage=0), "shrinkage to be a positive number, got 0"),
        (KLDA(gamma=-1.0), "gamma to be a positive number"),
        (KLDA(n_members=0), "n_members to be a positive integer"),
        (FeCAM(shrinkage=0.0), "singular covariance"),
        (FeCAM(covariance="diagonal"), "one of 'class', 'shared', got 'diagonal'"),
        (GACL(ridge=-1.0), "ridge to be a positive number, 'gcv', 'squared error' or 'accuracy', got -1"),
        (ELM(activation="sin"), "activation to be one of 'gelu'"),
        (RanPAC(ridge="acuracy"), "got 'acuracy'"),
        (LoRanPAC(truncation=1.0), "truncation to be a share"),
        (LinearProbe(n_epochs=0), "n_epochs to be a positive integer"),
    ],
)
def test_parameters_outside_their_range(model: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        model.fit(*blobs())
