"""Files that the version before wrote load, and predict the same."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.adaptation import Adaptation
from anacp.backbones import backbone
from anacp.errors import RidgeEdgeWarning, UncheckedFileWarning
from anacp.learners import Learner
from anacp.methods import Classifier, TrainedMethod
from tests.backbones.models import needs_minilm
from tests.conftest import blobs

FOLDER = Path(__file__).resolve().parents[1] / "previous"
LEARNERS = sorted(FOLDER.glob("*solved.anacp"))


def assert_probabilities_agree(now: np.ndarray, then: np.ndarray, *, solved_then: bool) -> None:
    """They are the same where a file keeps how sharp they are; else log p has another factor, which is found anew."""
    if solved_then:
        np.testing.assert_allclose(now, then, atol=1e-5)
        return
    log_now, log_then = (np.log(p) - np.log(p).mean(1, keepdims=True) for p in (now.astype(float), then.astype(float)))
    factor = (log_now * log_then).sum() / np.square(log_then).sum()
    np.testing.assert_allclose(log_now, factor * log_then, atol=1e-4)
    assert 0.8 < factor < 1.25


@pytest.mark.parametrize("path", LEARNERS, ids=lambda path: path.stem)
def test_learners(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anacp.AnaCP, "_regression", lambda *_: None)  # draws were not matched to real examples then
    arrays = np.load(FOLDER / "learners.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RidgeEdgeWarning)
        with pytest.warns(UncheckedFileWarning, match="written by anacp 0.1.0, before files had a digest"):
            model = anacp.load(path)
        assert isinstance(model, Learner)
        np.testing.assert_allclose(model.decision_function(arrays["x"]), arrays[f"{path.stem} scores"], atol=1e-5)
        assert_probabilities_agree(
            model.predict_proba(arrays["x"]),
            arrays[f"{path.stem} probabilities"],
            solved_then=not path.stem.endswith("unsolved"),
        )
        x, _ = blobs(n_rows=2, n_features=6)
        model.partial_fit(x, ["elk"] * len(x))  # and goes on learning
        assert "elk" in model.predict(x)


@needs_minilm
@pytest.mark.parametrize("name", ["classifier", "adapted-classifier", "concatenated"])
def test_classifiers(name: str) -> None:
    said = json.loads((FOLDER / "texts.json").read_text())
    with pytest.warns(UncheckedFileWarning) as noted:
        model = anacp.load(FOLDER / f"{name}.anacp")
    assert len(noted) == 1
    assert isinstance(model, Classifier)
    assert_probabilities_agree(
        model.predict_proba(said["shown"]), np.array(said[name]), solved_then=name == "classifier"
    )
    assert model.is_known(said["items"], said["labels"]).all()
    assert model.learn(said["items"], said["labels"]).n_new == 0
    if name != "classifier":
        assert model.encoder.fingerprint == said[f"{name} fingerprint"]


@needs_minilm
def test_trained() -> None:
    said = json.loads((FOLDER / "texts.json").read_text())
    with pytest.warns(UncheckedFileWarning):
        model = anacp.load(FOLDER / "trained.anacp")
    assert isinstance(model, TrainedMethod)
    np.testing.assert_allclose(model.scores(said["shown"]), said["trained"], atol=1e-4)


@needs_minilm
def test_adaptation() -> None:
    said = json.loads((FOLDER / "texts.json").read_text())
    with pytest.warns(UncheckedFileWarning):
        adaptation = Adaptation.load(FOLDER / "adaptation.safetensors")
    assert adaptation.fingerprint == said["adaptation"]
    assert adaptation.apply(backbone("minilm-l6")).fingerprint == said["adapted"]


def test_all_are_here() -> None:
    assert len(LEARNERS) == 38
