"""`anacp export`, as a person meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import anacp as package
from anacp.testing import blobs
from tests.adaptation.models import WORDS, tiny
from tests.cli.conftest import anacp


@pytest.fixture
def model(tmp_path: Path) -> Path:
    package.AnaCP(n_projected=60).partial_fit(*blobs()).save(tmp_path / "my.anacp")
    return tmp_path / "my.anacp"


def test_a_model_becomes_a_graph(model: Path, tmp_path: Path) -> None:
    printed = anacp("export", model, "-o", tmp_path / "my.onnx").splitlines()
    assert printed[0].startswith(f"{tmp_path / 'my.onnx'}: features to scores and probabilities, ")
    assert printed[1].endswith("100.00 % of the answers are equal")
    stated = json.loads(anacp("export", model, "-o", tmp_path / "my.onnx", "--exact", "--json"))
    assert stated["inputs"] == ["features"]
    assert stated["bytes"] == (tmp_path / "my.onnx").stat().st_size
    assert stated["deviation"]["probabilities"] < 1e-4


def test_texts_as_tokens(tmp_path: Path) -> None:
    tiny("bert", tmp_path)
    backbone = f"hf:{tmp_path / 'bert'}"
    texts = [f"{WORDS[n % 3]} {WORDS[3 + n % 6]}" for n in range(12)]
    lines = [f"{text},topic {n % 3}" for n, text in enumerate(texts)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *lines]))
    anacp("learn", tmp_path / "texts.csv", "--model", tmp_path / "my.anacp", "--backbone", backbone, "--learner", "NCM")
    anacp("export", tmp_path / "my.anacp", "-o", tmp_path / "my.onnx", "--with-backbone")
    classifier = package.load(tmp_path / "my.anacp")
    session = onnxruntime.InferenceSession(str(tmp_path / "my.onnx"))
    for some in (texts, texts[:1], ["red", "blue tree car red"]):
        inputs = classifier.encoder.backbone.reader.read(some)
        probabilities = session.run(["probabilities"], inputs)[0]
        np.testing.assert_allclose(probabilities, classifier.predict_proba(some), atol=1e-3)


def test_errors_are_one_line(model: Path, tmp_path: Path, error_of: Callable[..., str]) -> None:
    assert "ends in .onnx" in error_of("export", model, "-o", tmp_path / "my.txt")
    assert "knows no backbone" in error_of("export", model, "-o", tmp_path / "my.onnx", "--with-backbone")
    assert "absent.anacp" in error_of("export", tmp_path / "absent.anacp", "-o", tmp_path / "my.onnx")
    assert not (tmp_path / "my.onnx").exists()
