"""Finite but extreme features: answered as if they were ordinary, or refused; never answered wrongly."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import anacp
from anacp.errors import AnacpError, InputError, NumericalError
from anacp.learners import KLDA, NCM, SLDA, FeCAM, Learner, LoRanPAC
from tests.conftest import blobs
from tests.contract.every_learner import every_learner, one_of_each

SCALES = (1e-30, 1e-20, 1e-10, 1e10, 1e20, 1e30)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "learner",
    [
        NCM(),
        LoRanPAC(n_projected=60),
        FeCAM(),
        FeCAM(covariance="shared"),
        FeCAM(covariance="shared", normalize=False),
        FeCAM(covariance="shared", normalize=False, correlation=False),
        FeCAM(normalize=False, dtype="float64"),
        anacp.ELM(n_projected=60),
        anacp.AnaCP(n_projected=60, n_replay=9),
        anacp.AnaCP(n_projected=60, n_heads=0, classifier="ncm", normalize=False),
    ],
    ids=str,
)
def test_scale_free_methods_say_the_same_at_every_scale(learner: Learner[Any], scale: float) -> None:
    x, y = blobs()
    x = x.astype(np.float32)
    expected = clone(learner).fit(x, y).predict(x)
    extreme = (x * np.float32(scale)).astype(np.float32)
    model = clone(learner).fit(extreme, y)
    assert (model.predict(extreme) == expected).mean() > 0.98  # rounding decides between equals
    probabilities = model.predict_proba(extreme)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-4)


def test_ncm_tells_two_classes_apart_at_1e20() -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32) * np.float32(1e20)
    assert NCM().fit(x, ["a", "b"]).predict(x).tolist() == ["a", "b"]


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_slda_neither_overflows_nor_vanishes(scale: float) -> None:
    x, y = blobs()
    x = (x * scale).astype(np.float32)
    expected = SLDA(dtype="float64").fit(x, y).predict(x)
    assert (SLDA().fit(x, y).predict(x) == expected).mean() > 0.98
    assert len(set(SLDA().fit(x, y).predict(x))) == 5


@pytest.mark.filterwarnings("ignore::anacp.errors.RidgeEdgeWarning")
@pytest.mark.parametrize("learner", every_learner(), ids=str)
@pytest.mark.parametrize("scale", [1e-37, 1e-30, 1e-18, 1e-6, 1e6, 1e18, 1e30, 1e37])
def test_every_learner_answers_with_probabilities_or_refuses(learner: Learner[Any], scale: float) -> None:
    x, y = blobs(n_rows=5)
    extreme = (x * scale).astype(np.float32)
    for taught, asked in ((x, extreme), (extreme, extreme), (extreme, x)):
        model = clone(learner)
        if "n_epochs" in model.get_params():
            model.set_params(n_epochs=3)
        try:
            probabilities = model.fit(taught, y).predict_proba(asked)
        except (InputError, NumericalError):
            continue
        np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-30, 1e20])
def test_what_float32_cannot_square_is_refused_at_once_and_changes_nothing(scale: float) -> None:
    x, y = blobs()
    model = anacp.GACL(n_projected=60)
    with pytest.raises(InputError, match="squares float32 can hold"):
        model.partial_fit((x * scale).astype(np.float32), y)
    if scale > 1:  # small rows beside ordinary ones are as good as zeros, and zeros can be learned
        before = model.partial_fit(x, y).scores(x)
        with pytest.raises(InputError, match="got larger ones"):
            model.partial_fit((x * scale).astype(np.float32), y)
        np.testing.assert_array_equal(model.scores(x), before)
    anacp.GACL(n_projected=60, ridge=1e-70 if scale < 1 else 1e40, dtype="float64").fit(x * scale, y).predict(x * scale)


def test_a_single_row_that_leaves_no_room_for_a_second_is_refused() -> None:
    model = FeCAM(normalize=False).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(InputError, match="got larger ones"):
        model.partial_fit(np.full((1, 3), 1e22), [3])
    assert model.classes_.tolist() == [0, 1, 2]


def test_phases_beyond_rounding_are_refused() -> None:
    x, y = blobs()
    with pytest.raises(InputError, match="lower gamma"):
        KLDA(n_projected=20).fit(x * 1e8, y)


def test_scores_that_cannot_be_held_are_refused() -> None:
    x, y = blobs()
    model = LoRanPAC(n_projected=60).fit(x, y)
    with np.errstate(invalid="ignore"), pytest.raises(NumericalError, match="dtype='float64'"):
        model.predict_proba((x * 3e38 / np.abs(x).max()).astype(np.float32))


@pytest.mark.parametrize("scale", [1e-28, 1e-20, 1.0, 1e20, 1e28])
@pytest.mark.parametrize("learner", one_of_each(), ids=repr)
def test_what_is_saved_can_be_loaded_at_any_scale(learner: Learner, scale: float, tmp_path: Path) -> None:
    x, y = blobs()
    rows = (x * scale).astype(np.float32)
    try:
        model = clone(learner).fit(rows, y).solve(probabilities=True)
    except AnacpError:
        assert scale != 1  # refused, with a word: then there is nothing to save
        return
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(anacp.load(tmp_path / "model").scores(rows), model.scores(rows))


@pytest.mark.parametrize("learner", [anacp.AnaCP, anacp.AveragedAnaCP])
def test_a_push_beyond_every_number_is_refused(learner: type[Learner]) -> None:
    x, y = blobs()
    with pytest.raises(NumericalError, match="Lower `repulsion`"):
        learner(n_projected=60, repulsion=1e300).partial_fit(x, y).predict(x)
