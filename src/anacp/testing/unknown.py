"""What was never learned is told from what was, by what the model remembers and nothing else."""

import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from anacp.errors import InputError, ParameterError
from anacp.files import TensorFile
from anacp.learners import BY, MODEL, Learner, restored
from anacp.testing.data import TOLERANCE, blobs
from anacp.testing.refusing import refuses

N_STRANGE = 3  # classes that are not taught


def what_was_never_learned_is_told(learner: Learner[Any]) -> None:
    """Rows of classes never learned are less familiar, and more are kept the more are asked for."""
    x, y = blobs(n_classes=9, n_rows=40)
    taught, seen = y >= N_STRANGE, np.arange(len(y)) % 2 == 0
    model = clone(learner).partial_fit(x[taught & seen], y[taught & seen])
    for by in BY:
        heights = model.familiarity(x, by=by)
        assert heights.shape == (len(x),)
        assert np.isfinite(heights).all()
        labels = model.predict(x, unknown=-1, by=by)
        assert_array_equal(labels, np.where(heights >= 0, model.predict(x), -1))
        assert_allclose(heights[:7], model.familiarity(x[:7], by=by), rtol=0, atol=1e-3 * np.abs(heights).max())
        kept = [(model.familiarity(x, keep=keep, by=by) >= 0).sum() for keep in (0.2, 0.5, 0.8, 0.99)]
        assert kept == sorted(kept)
        assert kept[0] < kept[-1]
    known, strange = (model.familiarity(x[rows]) for rows in (taught & ~seen, ~taught))
    assert np.median(known) > np.median(strange)
    assert (known >= 0).mean() > 0.8
    judged = model.judged(x, keep=0.8)
    assert_array_equal(judged[2], model.familiarity(x, keep=0.8))
    assert_array_equal(judged[1], model.predict_proba(x))


def familiarity_is_that_of_the_data_learned(model: Learner[Any]) -> None:
    """Split, order, merging, unlearning and files leave no trace in what is unknown; a file keeps what was set."""
    x, y = blobs()
    whole, half = clone(model).partial_fit(x, y), len(x) // 2
    parts = clone(model).partial_fit(x[half:], y[half:]).solve(unknown=True).partial_fit(x[:half], y[:half])
    merged = clone(model).partial_fit(x[:half], y[:half]) + clone(model).partial_fit(x[half:], y[half:])
    less = (
        clone(model).partial_fit(np.concatenate([x, x[:9] + 1]), np.concatenate([y, y[:9]])).unlearn(x[:9] + 1, y[:9])
    )
    expected = {by: whole.familiarity(x, by=by) for by in BY}
    with tempfile.TemporaryDirectory() as folder:
        whole.save(Path(folder) / "model", exact=True)
        loaded = restored(type(model), TensorFile(Path(folder) / "model", MODEL))
    with mock.patch("anacp.learners.base.made_reference", side_effect=AssertionError("measured again")):
        for by in BY:
            assert_array_equal(loaded.familiarity(x, by=by), expected[by])
    for other in (parts, merged, less):
        for by in BY:
            size = max(1.0, float(np.abs(expected[by]).max()))
            assert_allclose(other.familiarity(x, by=by), expected[by], rtol=0, atol=10 * TOLERANCE[model.dtype] * size)


def familiarity_is_finite_whatever_was_learned(learner: Learner[Any]) -> None:
    """One example, one class, zeros, constants and equal rows can be asked for the unknown."""
    x, y = blobs(n_rows=4)
    constant = x.copy()
    constant[:, 1:] = 3.0
    for features, labels in (
        (x[:1], y[:1]),
        (x[:5], np.arange(5)),
        (np.zeros_like(x), y),
        (constant, y),
        (x[y == 1], y[y == 1]),
    ):
        model = clone(learner).partial_fit(features, labels)
        for by in BY:
            assert np.isfinite(model.familiarity(features, by=by)).all()
        assert set(model.predict(features, unknown=-1)) <= {-1, *labels.tolist()}


def a_bad_label_for_the_unknown_is_refused(learner: Learner[Any]) -> None:
    """A label of another kind or of a class, and shares that are none, are refused."""
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    for bad in ("unknown", True, [7], 3):
        with refuses(InputError, "Expected unknown to be"):
            model.predict(x, unknown=bad)
    for keep in (0, 1, -0.5, 2, "most", float("nan"), True):
        with refuses(ParameterError, "Expected keep"):
            model.predict(x, unknown=-1, keep=keep)
    with refuses(ParameterError, "Expected by to be one of"):
        model.familiarity(x, by="guess")
    texts = clone(learner).partial_fit(x, np.array(["ant", "bee", "cat", "dog", "elk"])[y])
    assert set(texts.predict(x * 1.5, unknown="none of these")) <= {"ant", "bee", "cat", "dog", "elk", "none of these"}
    with refuses(InputError, "Expected unknown to be"):
        texts.predict(x, unknown=-1)
