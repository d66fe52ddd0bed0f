"""A network's exported copy stands for it as long as nothing has changed since the two were compared."""

import json
from pathlib import Path

import numpy as np
import pytest

from anacp.backbones import Backbone, backbone, exported_backbone
from anacp.backbones.exported import ExportedBackbone
from anacp.backbones.identity import Identity
from anacp.encoders import EncodingPass
from tests.backbones.models import dinov2_folder, needs_lite0, pictures

pytest.importorskip("onnxruntime")


@pytest.fixture
def home(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def network(home, tmp_path) -> Backbone:
    """A small network of a folder, exported: its preprocessing is one that we do ourselves."""
    made = backbone(f"hf:{dinov2_folder(tmp_path / 'dino', processor=False)}", engine="onnx")
    made.encode(pictures(1))
    return made


def copy_of(made: Backbone) -> ExportedBackbone | None:
    return exported_backbone(made.preset.name, made.fingerprint, made.modality, made.n_features)


def test_the_copy_makes_the_same_features(network: Backbone) -> None:
    copied = copy_of(network)
    found = EncodingPass((copied,), pictures(5), store=None, on_error="refuse", wanted=None).run(None)
    np.testing.assert_array_equal(found.x, network.encode(pictures(5)))


@needs_lite0
def test_layers_have_a_copy_of_their_own(home) -> None:
    made = backbone("efficientnet-lite0").with_layers((-2, -1))
    assert copy_of(made) is None
    expected = made.encode(pictures(2))
    found = EncodingPass((copy_of(made),), pictures(2), store=None, on_error="refuse", wanted=None).run(None)
    np.testing.assert_array_equal(found.x, expected)


def test_an_identity_survives_json(network: Backbone) -> None:
    from dataclasses import asdict

    again = Identity.restored(json.loads(json.dumps(asdict(network.identity))))
    assert again == network.identity
    assert again.fingerprint == network.fingerprint


def test_a_changed_copy_is_not_used(network: Backbone, home: Path) -> None:
    (path,) = (home / "onnx").glob("*.onnx")
    whole = path.read_bytes()
    for changed in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[:100], b""):
        path.write_bytes(changed)
        assert copy_of(network) is None
    path.unlink()
    assert copy_of(network) is None
    path.write_bytes(whole)
    assert copy_of(network) is not None


def test_changed_weights_are_not_used(network: Backbone, tmp_path: Path) -> None:
    weights = tmp_path / "dino" / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert copy_of(network) is None
    backbone(network.preset.name)  # a person names them: they are known now, but the copy is of others
    assert copy_of(network) is None
    weights.write_bytes(whole)
    assert copy_of(network) is None
    backbone(network.preset.name)
    assert copy_of(network) is not None


def test_a_name_that_nobody_gave_is_not_used(network: Backbone, home: Path) -> None:
    noted = home / "backbones.json"
    noted.write_text("{}")
    assert copy_of(network) is None


@pytest.mark.parametrize(
    "change",
    [
        {"identity": {}},
        {"digest": "0" * 32},
        {"files": "0" * 32},
        {"file": "../onnx/other.onnx"},
        {"runtime": "onnxruntime 0.1 on x86_64"},
        {"plain_tokenizer": None, "identity": []},
    ],
)
def test_a_changed_note_is_not_believed(network: Backbone, home: Path, change: dict) -> None:
    (path,) = (home / "onnx").glob("*.json")
    noted = json.loads(path.read_text())
    path.write_text(json.dumps(noted | change))
    assert copy_of(network) is None
    preprocessing = noted["identity"]["preprocessing"] | {"crop": 28}
    path.write_text(json.dumps(noted | {"identity": noted["identity"] | {"preprocessing": preprocessing}}))
    assert copy_of(network) is None
    path.write_text("{")
    assert copy_of(network) is None


def test_another_network_than_the_file_was_learned_with_is_not_used(network: Backbone) -> None:
    assert exported_backbone(network.preset.name, "0" * 32, "image", network.n_features) is None
    assert exported_backbone(network.preset.name, "../x", "image", network.n_features) is None
    assert exported_backbone("efficientnet-lite0", network.fingerprint, "image", network.n_features) is None
    assert exported_backbone(network.preset.name, network.fingerprint, "image", 7) is None
