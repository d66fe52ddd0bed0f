"""An exported graph answers as the library does, wherever it runs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import Tensor

import anacp
from anacp.adaptation import adapt
from anacp.encoders import Encoder
from anacp.errors import (
    MismatchError,
    NotLearnedError,
    NumericalError,
    ParameterError,
    UnavailableError,
)
from anacp.exports import TOLERANCE, export, packing
from anacp.learners import Learner
from anacp.methods import Classifier, JointLinearProbe
from anacp.projections import ACTIVATIONS
from anacp.testing import blobs
from tests.adaptation.models import TINY, examples, tiny
from tests.backbones.models import dinov2_folder, needs_lite0, needs_minilm, pictures
from tests.contract.every_learner import every_learner

SMALL = {"n_projected": 60, "n_heads": 2}
FURTHER = [
    *(anacp.AnaCP(**SMALL, projection=kind) for kind in ("structured", "gaussian")),
    *(anacp.AnaCP(**SMALL, activation=name) for name in ACTIVATIONS),
    *(anacp.AnaCP(**SMALL, normalize=what) for what in (False, "inputs", "heads")),
    anacp.AnaCP(n_projected=60, n_heads=0, projection="gaussian"),
    anacp.AnaCP(**SMALL, dtype="float64"),
    anacp.FeCAM(tukey=0.5),
    anacp.GACL(n_projected=60, ridge=0.1, dtype="float64"),
    anacp.LoRanPAC(n_projected=200, dtype="float64"),
]


def answers(path: Path, **inputs: Any) -> tuple[Any, Any]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    scores, probabilities = session.run(["scores", "probabilities"], inputs)
    return scores, probabilities


def facts(path: Path) -> dict[str, str]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return dict(session.get_modelmeta().custom_metadata_map)


def assert_agree(path: Path, model: Learner, x: np.ndarray, tolerance: float) -> None:
    scores, probabilities = answers(path, features=x)
    expected = model.scores(x)
    assert scores.dtype == probabilities.dtype == np.float32
    assert np.abs(scores - expected).max() <= tolerance * max(1.0, np.ptp(expected, axis=1).mean())
    np.testing.assert_allclose(probabilities, model.predict_proba(x), atol=tolerance)


@pytest.mark.filterwarnings("ignore::anacp.errors.RidgeEdgeWarning")
@pytest.mark.parametrize("learner", [*every_learner(), *FURTHER], ids=repr)
def test_every_learner_is_exported(learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "BITS", {1: 12})  # so that the numbers of small models are packed too
    x, y = blobs(n_features=12)
    x = np.abs(x).astype(np.float32)  # some take no negative features
    model = learner.partial_fit(x, y)
    for exact, tolerance in ((True, 1e-4), (False, TOLERANCE)):
        written = export(model, tmp_path / "model.onnx", exact=exact)
        assert written.n_bytes == written.path.stat().st_size
        for rows in (x, x[:1], x[:7]):
            assert_agree(written.path, model, rows, tolerance)


@pytest.mark.parametrize("n_classes", [1, 2])
def test_one_class_and_two_are_exported(n_classes: int, tmp_path: Path) -> None:
    x, y = blobs(n_classes=n_classes)
    model = anacp.AnaCP(**SMALL).partial_fit(x, y)
    export(model, tmp_path / "model.onnx")
    assert_agree(tmp_path / "model.onnx", model, x.astype(np.float32), TOLERANCE)


@pytest.fixture(scope="module")
def large() -> anacp.AnaCP:
    """The paper's size on few rows: how large a file is does not depend on how good it is."""
    generator = np.random.default_rng(0)
    means = generator.normal(size=(200, 768))
    y = np.repeat(np.arange(200), 2)
    x = means[y] + 0.5 * generator.normal(size=(400, 768))
    return anacp.AnaCP().partial_fit(x, y).solve(probabilities=True)


def test_the_papers_size_fits_into_eight_and_a_half_megabytes(large: anacp.AnaCP, tmp_path: Path) -> None:
    large.save(tmp_path / "model.anacp")
    written = anacp.export(tmp_path / "model.anacp", tmp_path / "model.onnx")
    assert written.n_bytes <= 8.5e6
    assert max(written.deviation.scores, written.deviation.probabilities) < TOLERANCE / 2
    x = np.random.default_rng(1).normal(size=(30, 768)).astype(np.float32)
    assert_agree(written.path, large, x, TOLERANCE)


def test_whole_numbers_are_stored_exactly(large: anacp.AnaCP, tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(5, 768)).astype(np.float32)
    exact = export(large, tmp_path / "exact.onnx", exact=True)
    assert_agree(exact.path, large, x, 1e-5)
    assert exact.n_bytes < 20e6  # the structured matrices are not written out


ALONE = """
import json, sys
sys.modules.update(dict.fromkeys(("torch", "anacp", "onnx", "sklearn", "scipy")))  # importing them fails
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
probabilities = session.run(["probabilities"], {"features": np.load(sys.argv[2])})[0]
print(json.dumps([classes[best] for best in probabilities.argmax(1)]))
"""


def test_onnxruntime_and_numpy_are_enough(tmp_path: Path) -> None:
    x, y = blobs()
    odd = np.array(['"quoted"', "back\\slash", "line\nbreak", "äöü 漢字 🐦", " "])
    model = anacp.AnaCP(**SMALL).partial_fit(x, odd[y])
    export(model, tmp_path / "model.onnx")
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    command = [sys.executable, "-c", ALONE, str(tmp_path / "model.onnx"), str(tmp_path / "x.npy")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == model.predict(x).tolist()


@pytest.mark.parametrize("labels", [[3, 1, 2, -7, 0], [True, False], [0.0, 1.0, -2.0, 3.0, 4.0]])
def test_a_file_says_what_it_is(labels: list[Any], tmp_path: Path) -> None:
    x, y = blobs(n_classes=len(labels))
    model = anacp.SLDA().partial_fit(x, np.array(labels)[y])
    written = export(model, tmp_path / "model.onnx")
    stated = facts(written.path)
    assert json.loads(stated["classes"]) == model.classes_.tolist()
    assert stated["learner"] == "SLDA"
    assert json.loads(stated["parameters"]) == model.get_params()
    assert stated["n_features"] == "8"
    assert stated["anacp_version"] == anacp.__version__
    assert stated["stored"].startswith("weights in 12 bits")
    assert json.loads(stated["deviation"])["probabilities"] == written.deviation.probabilities
    graph = onnx.load(str(written.path))
    onnx.checker.check_model(graph, full_check=True)
    assert {one.domain for one in graph.opset_import} == {""}
    assert [one.name for one in graph.graph.input] == ["features"]
    assert [one.name for one in graph.graph.output] == ["scores", "probabilities"]
    assert b"site-packages" not in written.path.read_bytes()  # nothing of the machine that wrote it
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_a_model_that_is_not_solved_is_solved_and_stays_as_it_was(tmp_path: Path) -> None:
    x, y = blobs()
    anacp.AnaCP(**SMALL).partial_fit(x, y).save(tmp_path / "model.anacp")
    before = (tmp_path / "model.anacp").read_bytes()
    anacp.export(tmp_path / "model.anacp", tmp_path / "model.onnx")
    assert (tmp_path / "model.anacp").read_bytes() == before
    assert_agree(tmp_path / "model.onnx", anacp.load(tmp_path / "model.anacp"), x.astype(np.float32), TOLERANCE)


class Sorting(anacp.NCM):
    """A method that takes another way for odd rows, and one that ONNX does not know."""

    def _scores(self, x: Tensor, solution: Any) -> Tensor:
        return super()._scores(x, solution) + torch.special.i1(x).sum() * 0


class Coarse(anacp.NCM):
    """A method whose graph is wrong: what was traced is not what it does."""

    def _portable(self, solution: Any) -> Any:
        return type(solution)(-solution.means)


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    x, y = blobs()
    path = tmp_path / "model.onnx"
    model = anacp.NCM().partial_fit(x, y)
    with pytest.raises(ParameterError, match=r"ends in .onnx, got .*model.anacp"):
        export(model, tmp_path / "model.anacp")
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(ParameterError, match=r"Expected a file to write"):
        export(model, tmp_path / "folder.onnx")
    with pytest.raises(ParameterError, match="NCM, which learned features and knows no backbone"):
        export(model, path, with_backbone=True)
    with pytest.raises(NotLearnedError):
        export(anacp.NCM(), path)
    with pytest.raises(MismatchError, match="got JointLinearProbe, a network of its own"):
        export(JointLinearProbe.__new__(JointLinearProbe), path)
    with pytest.raises(UnavailableError, match="cannot be exported; predict with anacp itself"):
        export(Sorting().partial_fit(x, y), path)
    with pytest.raises(NumericalError, match=r"agrees with the library to 0.01, got a deviation of .*--exact"):
        export(Coarse().partial_fit(x, y), path)
    with pytest.raises(NumericalError, match="cannot be exported"):
        export(Coarse().partial_fit(x, y), path, exact=True)
    assert not path.exists()


def test_a_model_of_extreme_features_is_refused_in_one_line(tmp_path: Path) -> None:
    x, y = blobs()
    with pytest.raises(UnavailableError, match=r"frexp.* cannot be exported") as refused:
        export(anacp.NCM().partial_fit(x * 1e-20, y), tmp_path / "model.onnx")
    assert "\n" not in str(refused.value)


def test_more_than_one_file_can_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anacp.exports.exporting.LARGEST", 100)
    with pytest.raises(UnavailableError, match="less than 2 GB"):
        export(anacp.NCM().partial_fit(*blobs()), tmp_path / "model.onnx")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UnavailableError, match=r"Exporting needs the package 'onnx'.*pip install 'anacp\[texts\]'"):
        export(anacp.NCM().partial_fit(*blobs()), tmp_path / "model.onnx")


def test_a_failure_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"before")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        export(anacp.NCM().partial_fit(*blobs()), path)
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_pixels_go_in_where_the_backbone_is_in_front(tmp_path: Path) -> None:
    classifier = Classifier(f"hf:{dinov2_folder(tmp_path / 'dinov2')}", anacp.AnaCP(**SMALL))
    images = pictures(6)
    classifier.learn(images, ["a", "b", "a", "b", "c", "c"])
    written = export(classifier, tmp_path / "model.onnx", with_backbone=True)
    assert written.inputs == ("pixel_values",)
    pixels = classifier.encoder.backbone.reader.read(images)["pixel_values"]
    for some in (pixels, pixels[:1]):
        probabilities = answers(written.path, pixel_values=some)[1]
        np.testing.assert_allclose(probabilities, classifier.predict_proba(images)[: len(some)], atol=TOLERANCE)
    stated = facts(written.path)
    assert json.loads(stated["backbone"])["n_features"] == 32
    assert "settings" in json.loads(stated["preprocessing"])
    without = export(classifier, tmp_path / "features.onnx")
    assert without.inputs == ("features",)
    assert without.n_bytes < written.n_bytes


@needs_minilm
def test_texts_of_any_length_go_in(tmp_path: Path) -> None:
    classifier = Classifier("minilm-l6", "NCM")
    texts = ["good morning", "hello there", "what is the weather like in the north tomorrow?", "will it rain?"]
    classifier.learn(texts, ["greeting", "greeting", "weather", "weather"])
    written = export(classifier, tmp_path / "model.onnx", with_backbone=True)
    assert written.inputs == ("input_ids", "attention_mask")
    for some in (texts, texts[:1], texts[2:3]):
        probabilities = answers(written.path, **classifier.encoder.backbone.reader.read(some))[1]
        np.testing.assert_allclose(probabilities, classifier.predict_proba(some), atol=TOLERANCE)


@needs_lite0
def test_photos_of_the_everyday_backbone(tmp_path: Path) -> None:
    classifier = Classifier(learner=anacp.AnaCP(**SMALL))
    images = pictures(4)
    classifier.learn(images, ["a", "b", "a", "b"])
    written = export(classifier, tmp_path / "model.onnx", with_backbone=True)
    assert json.loads(facts(written.path)["preprocessing"])["crop"] == 224
    pixels = classifier.encoder.backbone.reader.read(images)
    np.testing.assert_allclose(answers(written.path, **pixels)[1], classifier.predict_proba(images), atol=TOLERANCE)


def test_several_networks_stand_side_by_side(tmp_path: Path) -> None:
    backbone = tiny("bert", tmp_path)
    items, labels = examples("text", n=12)
    adaptation = adapt(backbone, items, labels, recipe=TINY)
    encoder = Encoder(backbone, adaptation=adaptation, concatenate=True, layers=[0, -1])
    classifier = Classifier(encoder, "NCM")
    classifier.learn(items, labels)
    written = export(classifier, tmp_path / "model.onnx", with_backbone=True)
    probabilities = answers(written.path, **backbone.reader.read(items))[1]
    np.testing.assert_allclose(probabilities, classifier.predict_proba(items), atol=TOLERANCE)
