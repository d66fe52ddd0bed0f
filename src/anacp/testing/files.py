"""A file gives back the model, with its solution if it had one."""

import contextlib
import io
import pickle
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.base import clone

from anacp.errors import NotLearnedError
from anacp.files import TensorFile
from anacp.learners import MODEL, Learner, restored
from anacp.testing.data import assert_same, blobs
from anacp.testing.refusing import refuses


def a_file_gives_back_the_model(model: Learner[Any]) -> None:
    """A model that was saved exactly predicts the same bits when loaded, and goes on learning as it would have."""
    x, y = blobs()
    labels = np.array(["ant", "bee", "cat", "dog", "elk"])[y]
    model.partial_fit(x, labels)
    loaded = _saved_and_loaded(model)
    assert loaded.get_params() == model.get_params()
    assert_array_equal(loaded.decision_function(x), model.decision_function(x))
    assert_array_equal(loaded.predict(x), model.predict(x))
    assert_same(loaded.partial_fit(x[:9], labels[:9]), model.partial_fit(x[:9], labels[:9]), x)


def a_solution_is_kept_and_not_solved_again(model: Learner[Any]) -> None:
    """A solved model predicts from its file at once, bit for bit, without solving or calibrating."""
    x, y = blobs()
    model.partial_fit(x, y).solve(probabilities=True)
    scores, probabilities = model.decision_function(x), model.predict_proba(x)
    loaded = _saved_and_loaded(model)
    again = AssertionError("solved again")
    with (
        mock.patch.object(type(model), "_solve", side_effect=again),
        mock.patch("anacp.learners.base.made_reference", side_effect=again),
    ):
        assert_array_equal(loaded.decision_function(x), scores)
        assert_array_equal(loaded.predict_proba(x), probabilities)
        assert_array_equal(loaded.predict_proba(x[:1]), model.predict_proba(x[:1]))
    assert_same(loaded.partial_fit(x[:9], y[:9]), model.partial_fit(x[:9], y[:9]), x)
    taught = _saved_and_loaded(model.partial_fit(x, y + 5))  # what was solved before is not its solution
    assert_same(taught, model, x)


def what_is_loaded_survives_its_file(learner: Learner[Any]) -> None:
    """A loaded model does not notice that its file is replaced, and can be copied."""
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        loaded, copied = _loaded(type(learner), path), pickle.loads(pickle.dumps(_loaded(type(learner), path)))
        clone(learner).partial_fit(x[:, :3], y + 7).save(path)
        assert_same(loaded.partial_fit(x[:9], y[:9]), clone(model).partial_fit(x, y).partial_fit(x[:9], y[:9]), x)
    assert_same(copied, model, x)


def labels_of_any_type_come_back(learner: Learner[Any]) -> None:
    """Labels are predicted in the type they were learned in, from a file too."""
    x, y = blobs(n_classes=2, n_rows=30)
    for labels in (
        np.array(["no", "yes"])[y],
        np.array(["no", "yes"], dtype=object)[y],
        y + 10**12,
        y - 5,
        y.astype(bool),
        y.astype(float) * 3,
    ):
        model = clone(learner).partial_fit(x, labels)
        predicted = model.predict(x)
        assert predicted.dtype == labels.dtype
        assert (predicted == labels).mean() > 0.8
        loaded = _saved_and_loaded(model)
        assert loaded.classes_.dtype == model.classes_.dtype
        assert_array_equal(loaded.predict(x), predicted)


def the_summary_tells_what_a_file_holds(learner: Learner[Any]) -> None:
    """The sizes that are told beforehand are those of the model, and of its exact file; another is no larger."""
    with refuses(NotLearnedError, "learned nothing yet"):
        learner.summary()
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    printed, expected = _printed(model), _printed(learner, n_features=8, n_classes=5, n_rows=60)
    held_out = any("held out" in part.name for part in model.parts())  # about a fifth of the rows
    assert printed == expected or held_out
    assert f"{sum(part.numbers for part in model.parts()):,}" in printed
    total = sum(part.bytes for part in model.parts())
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model", exact=True)
        exact = (Path(folder) / "model").stat().st_size
        assert total <= exact <= total + 6000
        model.save(Path(folder) / "model")
        assert (Path(folder) / "model").stat().st_size <= exact


def _printed(model: Learner[Any], **sizes: int) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        model.summary(**sizes)
    return output.getvalue()


def _saved_and_loaded(model: Learner[Any]) -> Learner[Any]:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model", exact=True)
        return _loaded(type(model), Path(folder) / "model")


def _loaded(cls: type[Learner[Any]], path: Path) -> Learner[Any]:
    return restored(cls, TensorFile(path, MODEL))
