"""What a solved file answers by NumPy alone is what its learner answers."""

import math

import numpy as np
import pytest
import torch

import anacp
from anacp.files import TensorFile
from anacp.learners import MODEL, Learner, SolvedLearner
from anacp.projections import PLAIN_ACTIVATIONS, RandomProjection, plain_projection
from anacp.projections.plain import erf
from anacp.projections.random import ACTIVATIONS
from anacp.testing import blobs
from tests.contract.every_learner import every_learner

pytestmark = pytest.mark.filterwarnings("ignore::anacp.errors.RidgeEdgeWarning")

# Whose solutions need no random matrix that only torch can draw.
PLAIN = {"AnaCP", "AveragedAnaCP", "LinearProbe", "NCM", "Ridge", "SLDA"}


def drawn_by_torch(parameters, n_features: int, role: str):
    """A projection that NumPy cannot draw, for tests of what comes after it."""
    if parameters.get("projection") == "structured":
        return plain_projection(parameters, n_features, role)
    size, activation = parameters["n_projected"], parameters.get("activation", "relu")
    dtype = getattr(torch, parameters["dtype"])
    made = RandomProjection(n_features, size, activation, parameters["random_state"], role, dtype=dtype)
    return lambda x: PLAIN_ACTIVATIONS[activation](x @ made.matrix.numpy())


def saved(learner: Learner, path, *, classes: int = 5) -> tuple[np.ndarray, TensorFile]:
    x, y = blobs(n_classes=classes)
    learner.partial_fit(x, y).solve(probabilities=True).save(path)
    return x, TensorFile(path, MODEL)


@pytest.mark.parametrize("learner", every_learner(), ids=str)
def test_numpy_answers_as_the_learner_does(learner: Learner, tmp_path) -> None:
    x, file = saved(learner, tmp_path / "model")
    solved, given = SolvedLearner.of(file), SolvedLearner.of(file, drawn_by_torch)
    name = type(learner).__name__
    assert (solved is not None) == (name in PLAIN)
    assert (given is not None) == (name not in ("FeCAM", "KLDA"))
    for one in filter(None, (solved, given)):
        assert one.classes.tolist() == learner.classes_.tolist()
        found = one.probabilities(x)
        if name == "ELM" and learner.ridge == "accuracy":  # leaves scores of 1e-6, and log-odds that are all rounding
            assert found is None
            continue
        np.testing.assert_allclose(found, learner.predict_proba(x), atol=1e-5)
        assert (one.classes[found.argmax(1)] == learner.predict(x)).all()
        assert found.dtype == learner.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", [anacp.NCM, anacp.SLDA, anacp.Ridge])
def test_rows_of_any_number_and_kind(method, dtype: str, tmp_path) -> None:
    learner = method(dtype=dtype)
    x, file = saved(learner, tmp_path / "model", classes=2)
    solved = SolvedLearner.of(file)
    for rows in (x[:1], x.astype(np.float64), np.round(x).astype(int), np.tile(x, (9, 1)), np.zeros_like(x[:2])):
        np.testing.assert_allclose(solved.probabilities(rows), learner.predict_proba(rows), atol=1e-5)


@pytest.mark.parametrize("scale", [np.nan, np.inf, 1e30, 1e-30])
def test_odd_rows_are_left_to_the_learner(scale: float, tmp_path) -> None:
    x, file = saved(anacp.NCM(), tmp_path / "model")
    assert SolvedLearner.of(file).probabilities(x * scale) is None
    assert SolvedLearner.of(file).probabilities(x[:, 1:]) is None
    assert SolvedLearner.of(file).probabilities(x[0]) is None
    assert SolvedLearner.of(file).probabilities(x[:0]) is None
    assert SolvedLearner.of(file).probabilities(x.astype(str)) is None


def test_odd_rows_inside_a_projection_are_left_to_the_learner(tmp_path) -> None:
    x, file = saved(anacp.AnaCP(n_projected=60, n_heads=2, n_replay=9), tmp_path / "model")
    solved = SolvedLearner.of(file, drawn_by_torch)
    assert solved.probabilities(x) is not None
    assert solved.probabilities(np.zeros_like(x)) is None  # nothing that could be scaled to length one


def test_what_is_not_solved_or_not_calibrated_is_left_to_the_learner(tmp_path) -> None:
    x, y = blobs()
    model = anacp.NCM().partial_fit(x, y)
    for step in (lambda: None, lambda: model.predict(x)):
        step()
        model.save(tmp_path / "model")
        assert SolvedLearner.of(TensorFile(tmp_path / "model", MODEL)) is None
    predictor = anacp.Predictor(tmp_path / "model")
    assert predictor.loaded
    np.testing.assert_array_equal(predictor.predict_proba(x), model.predict_proba(x))


def test_a_predictor_says_what_the_model_says(tmp_path) -> None:
    learner = anacp.SLDA()
    x, _ = saved(learner, tmp_path / "model")
    predictor = anacp.Predictor(tmp_path / "model")
    assert predictor.modality == "features"
    assert predictor.classes_.tolist() == learner.classes_.tolist()
    assert (predictor.predict(x) == learner.predict(x)).all()
    assert predictor.top(x[:1], 1)[0][0][0] == learner.predict(x[:1])[0]
    assert not predictor.loaded
    with pytest.raises(ValueError, match="NaN"):
        predictor.predict(x * np.nan)
    assert predictor.loaded
    assert (predictor.predict(x * 1e-30) == anacp.load(tmp_path / "model").predict(x * 1e-30)).all()


def test_activations_are_those_of_torch() -> None:
    x = np.linspace(-9, 9, 100_001)
    assert max(abs(erf(x) - np.vectorize(math.erf)(x))) < 1.5e-7
    assert PLAIN_ACTIVATIONS.keys() == ACTIVATIONS.keys()
    for name, activate in PLAIN_ACTIVATIONS.items():
        for dtype in (np.float32, np.float64):
            found = activate(x.astype(dtype))
            assert found.dtype == dtype
            np.testing.assert_allclose(found, ACTIVATIONS[name](torch.from_numpy(x.astype(dtype))), atol=3e-6)
