"""AnaCP against the textbook, its ablation, and its promises about replay and calibration."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

import anacp
from anacp.errors import ParameterError
from anacp.evaluation import expected_calibration_error
from anacp.replay import draw, replay_groups
from anacp.statistics import ClassMoments, nothing
from tests.conftest import blobs

SMALL = {"n_projected": 80, "n_heads": 2, "ridge": 1.0, "classifier_ridge": 1.0, "dtype": "float64"}


def textbook_module():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "textbook.py"
    specification = importlib.util.spec_from_file_location("textbook", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_projection_equals_the_textbooks() -> None:
    """Same random matrices in both: the adapted features agree to rounding, task after task."""
    x, y = blobs(n_classes=6, n_rows=20)
    model = anacp.AnaCP(**SMALL)
    textbook = textbook_module().TextbookAnaCP(n_projected=80, n_heads=2, n_replay=3, ridge=1.0, dtype=torch.float64)
    model.partial_fit(x[:1], y[:1])
    matrices = [model._knowledge.memory.features(f"head {h}").matrix for h in range(2)]
    drawn = iter([*matrices, matrices[0]])
    textbook.random_matrix = lambda rows: next(drawn)
    model = anacp.AnaCP(**SMALL)
    for task in ((0, 3), (1, 5), (2, 4)):
        rows = np.isin(y, task)
        model.partial_fit(x[rows], y[rows])
        textbook.partial_fit(torch.from_numpy(x[rows]), torch.from_numpy(y[rows]))
        normalised = torch.nn.functional.normalize(torch.from_numpy(x), dim=1)
        np.testing.assert_allclose(model.transform(x), textbook.project(normalised).numpy(), atol=1e-9)


def test_elm_equals_ridge_on_its_replay() -> None:
    """The solved ELM is the dense ridge solution for the pseudo-features that the model draws."""
    x, y = blobs(n_classes=6, n_rows=20)
    model = anacp.AnaCP(n_replay=7, replay="sampled", **SMALL).partial_fit(x, y)
    solution = model.solve()._knowledge.solved.solution
    moments = model._knowledge.memory.moments
    rows, classes = [], []
    for group in replay_groups(moments, 7, n_groups=8, seed=0, role="replay"):
        for c in group.classes:
            rows.append(moments.means[c] + group.noise)
            classes.append(torch.full((7,), int(c)))
    u = model._adapted(torch.cat(rows), solution)
    z = model._projection(model.n_features_in_, "classifier")(u)
    targets = torch.nn.functional.one_hot(torch.cat(classes), 6).double()
    weights = torch.linalg.solve(z.mT @ z + torch.eye(80, dtype=torch.float64), z.mT @ targets)
    torch.testing.assert_close(solution.weights, weights, rtol=1e-7, atol=1e-9)


def test_replay_follows_the_remembered_gaussians() -> None:
    generator = torch.Generator().manual_seed(0)
    mixing = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    x = torch.randn(3000, 4, generator=generator, dtype=torch.float64) @ mixing.mT
    classes = torch.arange(3000) % 3
    x += 10 * classes[:, None]
    for spread in ("shared", "class"):
        moments = ClassMoments(4, spread=spread).at(*nothing("cpu"), 3).plus(x, classes)
        rows, drawn = draw(moments, 4000, seed=0, role="test")
        for c in range(3):
            of_class = rows[drawn == c]
            torch.testing.assert_close(of_class.mean(0), moments.means[c], atol=0.15, rtol=0)
            expected = moments.covariance_of(c) if spread == "class" else moments.covariance()
            torch.testing.assert_close(of_class.mT.cov(), expected, atol=0.5, rtol=0.08)
        assert not torch.equal(rows[drawn == 0] - moments.means[0], rows[drawn == 1] - moments.means[1])


@pytest.mark.parametrize("n_rows", [1, 2, 9, 40])
def test_replay_of_a_class_with_few_examples_stays_in_their_span(n_rows: int) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n_rows, 90, generator=generator, dtype=torch.float64) + 3
    empty, classes = ClassMoments(90, spread="class").at(*nothing("cpu"), 1), torch.zeros(n_rows, dtype=torch.int64)
    moments, again = empty.plus(x, classes), empty.plus(x.flip(0), classes)
    rows, _ = draw(moments, 20_000, seed=0, role="test")
    torch.testing.assert_close(rows.mT.cov(), x.mT.cov(correction=0), atol=0.1, rtol=0.1)
    span = torch.linalg.svd(x - x.mean(0), full_matrices=False)[2][: n_rows - 1]
    noise = rows - moments.means[0]
    torch.testing.assert_close(noise @ span.mT @ span, noise, atol=1e-6, rtol=0)
    torch.testing.assert_close(draw(again, 20_000, seed=0, role="test")[0], rows, atol=1e-6, rtol=0)


# The paper's ablation, each setting once: rows 6, 9, 11 and 15 are the method as it is.
ABLATION = [
    {"n_heads": 0, "classifier": "ncm"},
    {"classifier": "ncm", "targets": "means"},
    {"classifier": "ncm"},
    {"n_heads": 0},
    {"targets": "means"},
    {},
    {"n_replay": 20},
    {"replay": "sampled", "projection": "gaussian"},
    {"n_heads": 1},
    {"n_heads": 5},
    {"n_projected": 20},
]


@pytest.mark.parametrize("setting", ABLATION, ids=repr)
def test_every_row_of_the_ablation_runs(setting: dict[str, object]) -> None:
    x, y = blobs(n_rows=20)
    model = anacp.AnaCP(**{"n_projected": 100, "ridge": 1.0, "classifier_ridge": 1.0} | setting)
    assert (model.partial_fit(x, y).predict(x) == y).mean() > 0.9


def test_a_ridge_too_small_for_float32_is_solved_in_float64() -> None:
    x, y = blobs(n_classes=20, n_rows=8)
    model = anacp.AnaCP(n_projected=300, n_heads=1, classifier_ridge=1e-3).partial_fit(x, y)
    assert (model.predict(x) == y).mean() > 0.9


def test_row_1_is_ncm() -> None:
    x, y = blobs()
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    row_1 = anacp.AnaCP(n_heads=0, classifier="ncm", dtype="float64").partial_fit(x, y)
    ncm = anacp.NCM(dtype="float64").partial_fit(unit, y)
    np.testing.assert_allclose(row_1.decision_function(x), ncm.decision_function(unit))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_projected": 0}, "n_projected to be a positive integer, got 0"),
        ({"n_heads": -1}, "n_heads to be an integer ≥ 0 and ≤ 10,000, got -1"),
        ({"n_replay": 1.5}, "n_replay to be a positive integer, got 1.5"),
        ({"ridge": 0.0}, "ridge to be a positive number, 'gcv', 'squared error' or 'accuracy', got 0.0"),
        ({"repulsion": -1.0}, "repulsion to be a number ≥ 0"),
        ({"targets": "papr"}, "targets to be one of 'paper', 'reference', 'means', got 'papr'"),
        ({"normalize": "both"}, "normalize to be one of"),
        ({"random_state": None}, "random_state to be an integer, got None"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        anacp.AnaCP(**parameters).partial_fit(*blobs())


def test_the_papers_configuration_stores_less_than_half_of_the_papers_count(capsys) -> None:
    model = anacp.AnaCP()
    stored = sum(part.numbers for part in model.parts(n_features=768, n_classes=200))
    d, D, C, H = 768, 5000, 200, 3
    paper = C * d + d * d + H * (d * D + D * D + C * D + d * D) + d * D + C * D
    assert round(paper / 1e6, 1) == 106.6
    errors = C + 1 + H  # of means, scatter and Gram matrices
    assert stored == C + C * d + d * (d + 1) // 2 + H * (D * (D + 1) // 2 + C * D + C) + errors
    model.summary(n_features=768, n_classes=200)
    assert "40,957,400" in capsys.readouterr().out
    with pytest.raises(ParameterError, match="n_projected to be a positive integer, got -1"):
        anacp.AnaCP(n_projected=-1).parts(n_features=768, n_classes=200)


@pytest.mark.parametrize(("name", "at_most"), [("clinc150", 0.02), ("cifar100", 0.03)])
def test_confidence_means_something(name: str, at_most: float) -> None:
    sample = anacp.load_sample(name)
    model = anacp.AnaCP().partial_fit(sample.x_train, sample.y_train)
    probabilities = model.predict_proba(sample.x_test)
    correct = model.classes_[probabilities.argmax(1)] == sample.y_test
    assert expected_calibration_error(probabilities.max(1), correct) < at_most


def test_float32_merge_and_unlearn_predict_the_same_on_real_features() -> None:
    sample = anacp.load_sample("clinc150")
    x, y = sample.x_train, sample.y_train
    first = np.isin(y, np.unique(y)[::2])

    def learned(rows: np.ndarray) -> anacp.AnaCP:
        return anacp.AnaCP(n_projected=1000, n_heads=1).partial_fit(x[rows], y[rows])

    whole = learned(slice(None))
    expected = whole.predict(sample.x_test)
    assert ((learned(first) + learned(~first)).predict(sample.x_test) == expected).mean() >= 0.999
    kept = learned(first).predict(sample.x_test)
    assert (whole.unlearn(x[~first], y[~first]).predict(sample.x_test) == kept).mean() >= 0.999
