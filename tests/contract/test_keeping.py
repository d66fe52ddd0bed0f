"""A file gives back the model, with its solution if it had one."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import anacp
from anacp.errors import NotLearnedError
from anacp.learners import Learner
from anacp.learners.memory import Memory
from tests.conftest import blobs
from tests.contract.every_learner import few_rows, learners, same

pytestmark = few_rows


@learners
def test_save_and_load(model: Learner, tmp_path) -> None:
    x, y = blobs()
    labels = np.array(["ant", "bee", "cat", "dog", "elk"])[y]
    model.partial_fit(x, labels)
    model.save(tmp_path / "model.anacp")
    loaded = anacp.load(tmp_path / "model.anacp")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.decision_function(x), model.decision_function(x))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    same(loaded.partial_fit(x[:9], labels[:9]), model.partial_fit(x[:9], labels[:9]), x)


@learners
def test_a_solved_model_is_saved_with_its_solution(model: Learner, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs()
    model.partial_fit(x, y).solve(probabilities=True)
    scores, probabilities = model.decision_function(x), model.predict_proba(x)
    model.save(tmp_path / "model")

    def solved_again(*_: object) -> None:
        raise AssertionError("solved again")

    with monkeypatch.context() as patch:
        patch.setattr(type(model), "_solve", solved_again)
        patch.setattr("anacp.learners.base.mixed_draws", solved_again)
        if not keeps_factors(model):
            patch.setattr(Memory, "statistics", property(solved_again))
        loaded = anacp.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.decision_function(x), scores)
        np.testing.assert_array_equal(loaded.predict_proba(x), probabilities)
        np.testing.assert_array_equal(loaded.predict_proba(x[:1]), model.predict_proba(x[:1]))
    same(loaded.partial_fit(x[:9], y[:9]), model.partial_fit(x[:9], y[:9]), x)
    model.save(tmp_path / "model")  # solved by the comparison, then taught again
    model.partial_fit(x, y + 5).save(tmp_path / "more")
    assert (anacp.load(tmp_path / "model")._is_solved, anacp.load(tmp_path / "more")._is_solved) == (True, False)


def keeps_factors(model: Learner) -> bool:
    """FeCAM's inverse roots are larger than its statistics, and made from these."""
    return type(model).__name__ == "FeCAM" and model.covariance == "class"


@learners
def test_what_is_loaded_survives_its_file(learner: Learner, tmp_path) -> None:
    x, y = blobs()
    path = tmp_path / "model"
    model = clone(learner).partial_fit(x, y)
    model.save(path)
    loaded, copied = anacp.load(path), pickle.loads(pickle.dumps(anacp.load(path)))
    clone(learner).partial_fit(x[:, :3], y + 7).save(path)
    same(loaded.partial_fit(x[:9], y[:9]), clone(learner).partial_fit(x, y).partial_fit(x[:9], y[:9]), x)
    same(copied, model, x)


@learners
@pytest.mark.parametrize("kind", ["text", "object", "integer", "negative", "boolean", "float"])
def test_labels_of_any_type(learner: Learner, kind: str, tmp_path) -> None:
    x, y = blobs(n_classes=2, n_rows=30)
    labels = {
        "text": np.array(["no", "yes"])[y],
        "object": np.array(["no", "yes"], dtype=object)[y],
        "integer": y + 10**12,
        "negative": y - 5,
        "boolean": y.astype(bool),
        "float": y.astype(float) * 3,
    }[kind]
    model = clone(learner).partial_fit(x, labels)
    predicted = model.predict(x)
    assert predicted.dtype == labels.dtype
    assert (predicted == labels).mean() > 0.8
    model.save(tmp_path / "model")
    loaded = anacp.load(tmp_path / "model")
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(x), predicted)


@learners
def test_summary_tells_what_a_file_holds(learner: Learner, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotLearnedError):
        learner.summary()
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    model.summary()
    printed = capsys.readouterr().out
    learner.summary(n_features=8, n_classes=5, n_rows=60)
    if getattr(learner, "ridge", None) != "accuracy":  # which keeps rows, about a fifth of them
        assert capsys.readouterr().out == printed
    total = sum(part.bytes for part in model.parts())
    assert f"{sum(part.numbers for part in model.parts()):,}" in printed
    model.save(tmp_path / "model")
    assert total <= (tmp_path / "model").stat().st_size <= total + 4000
