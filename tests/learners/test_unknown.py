"""What is unknown: by the formula it stands for, at the share that is asked for, from files of any kind."""

from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import anacp
from anacp.errors import AnacpError
from anacp.evaluation import auroc
from anacp.files import TensorFile
from anacp.learners import BY, MODEL, SolvedLearner
from anacp.learners.reference import SHRINKAGE
from anacp.testing import blobs

QUICK = {"n_projected": 500}


def test_the_distance_is_the_relative_mahalanobis_distance() -> None:
    x, y = blobs(n_rows=30)
    model = anacp.SLDA(dtype="float64").partial_fit(x, y)
    means = np.stack([x[y == c].mean(0) for c in range(5)])
    within = (x - means[y]).T @ (x - means[y]) / len(x)
    shift = SHRINKAGE * within.diagonal().mean() * np.eye(8)
    whole = x - x.mean(0)

    def squared(rows: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        return np.einsum("nd,de,ne->n", rows, np.linalg.inv(covariance), rows)

    nearest = np.min([squared(x - mean, within + shift) for mean in means], 0)
    expected = squared(whole, whole.T @ whole / len(x) + shift) - nearest
    found = model.familiarity(x, by="distance")
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("by", BY)
def test_the_answer_is_unknown_just_where_a_row_is_unfamiliar(by) -> None:
    x, y = blobs(n_rows=60)
    names = np.array(["ant", "bee", "cat", "dog", "elk"])[y]
    model = anacp.SLDA().partial_fit(x[y < 4], names[y < 4])
    unfamiliar = model.familiarity(x, keep=0.9, by=by) < 0
    assert 0 < unfamiliar.sum() < len(x)
    plain, told = model.predict(x), model.predict(x, unknown="none", keep=0.9, by=by)
    np.testing.assert_array_equal(told, np.where(unfamiliar, "none", plain))


@pytest.mark.parametrize("name", ["clinc150", "cifar100"])
def test_known_examples_are_kept_as_asked_and_others_found(name: str) -> None:
    sample = anacp.load_sample(name)
    taught = np.unique(sample.y_train)[::2]
    learned, known = (np.isin(labels, taught) for labels in (sample.y_train, sample.y_test))
    model = anacp.AnaCP(**QUICK).partial_fit(sample.x_train[learned], sample.y_train[learned])
    heights = {keep: model.familiarity(sample.x_test, keep=keep) for keep in (0.95, 0.8)}
    kept, fewer = ((heights[keep][known] >= 0).mean() for keep in (0.95, 0.8))
    assert abs(kept - 0.95) < 0.05
    assert fewer < kept
    by_score = model.familiarity(sample.x_test, by="score")
    alone = auroc(by_score[known], by_score[~known])
    both = auroc(heights[0.95][known], heights[0.95][~known])
    assert both > max(alone, 0.7 if name == "cifar100" else 0.9)


@pytest.mark.parametrize("learner", [anacp.NCM(), anacp.Ridge(), anacp.SLDA(), anacp.AnaCP(n_projected=60)], ids=str)
def test_a_solved_file_tells_the_same_without_the_learner(learner, tmp_path: Path) -> None:
    x, y = blobs()
    learner.partial_fit(x, y).solve(probabilities=True, unknown=True).save(tmp_path / "model")
    solved = SolvedLearner.of(TensorFile(tmp_path / "model", MODEL))
    assert solved is not None
    for by in BY:
        found, expected = solved.above(3 * x, keep=0.9, by=by), learner.familiarity(3 * x, keep=0.9, by=by)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * abs(expected).max())
    predictor = anacp.Predictor(tmp_path / "model")
    assert predictor.predict(3 * x, unknown=-1).tolist() == learner.predict(3 * x, unknown=-1).tolist()
    assert not predictor.loaded
    with pytest.raises(AnacpError, match="Expected unknown to be no class"):
        predictor.predict(x, unknown=1)


def test_a_file_without_thresholds_is_loaded_and_sets_them(tmp_path: Path) -> None:
    x, y = blobs()
    model = anacp.NCM().partial_fit(x, y).solve(probabilities=True)
    model.save(tmp_path / "model")
    predictor = anacp.Predictor(tmp_path / "model")
    assert predictor.predict(x, unknown=-1).tolist() == model.predict(x, unknown=-1).tolist()
    assert predictor.loaded


def test_rows_at_the_threshold_are_left_to_the_learner(tmp_path: Path) -> None:
    x, y = blobs()
    anacp.SLDA().partial_fit(x, y).solve(probabilities=True, unknown=True).save(tmp_path / "model")
    solved = SolvedLearner.of(TensorFile(tmp_path / "model", MODEL))
    assert solved is not None
    assert solved.above(x, keep=0.95, by="both") is not None
    with mock.patch.object(type(solved.familiarity), "above", return_value=np.zeros(len(x))):
        assert solved.above(x, keep=0.95, by="both") is None


def test_a_file_whose_levels_are_none_is_refused(tmp_path: Path) -> None:
    x, y = blobs()
    model = anacp.NCM().partial_fit(x, y).solve(probabilities=True, unknown=True)
    model._knowledge.solved.familiarity.levels[2] = model._knowledge.solved.familiarity.levels[2, ::-1]
    model.save(tmp_path / "model")
    with pytest.raises(AnacpError, match="levels of familiarity must ascend"):
        anacp.load(tmp_path / "model")
