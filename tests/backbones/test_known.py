"""A model file decides nothing: no code of others, no request to the hub, no weights that nobody named."""

import builtins
import json
import socket
from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.backbones import backbone, known_backbone
from anacp.encoders import Encoder
from anacp.errors import MismatchError, UnavailableError
from anacp.files import TensorFile, write_tensors
from anacp.learners import MODEL
from anacp.methods import Classifier
from tests.backbones.models import dinov2_folder, pictures

pytest.importorskip("transformers")

CODE = """
from pathlib import Path
Path({mark!r}).write_text("was here")
from transformers import PretrainedConfig, PreTrainedModel
class Config(PretrainedConfig):
    model_type = "stranger"
class Model(PreTrainedModel):
    config_class = Config
"""


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nobody named anything, without a network, whose standard input says yes to everything."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a request to the network")

    home = tmp_path / "home"
    monkeypatch.setenv("ANACP_HOME", str(home))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(builtins, "input", lambda *_: "y")
    return home


@pytest.fixture
def stranger(tmp_path) -> Path:
    """A folder whose model has code of its own, that leaves a mark when it is run."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    (folder / "code.py").write_text(CODE.format(mark=str(tmp_path / "mark")))
    stated = {"model_type": "stranger", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (folder / "config.json").write_text(json.dumps(stated))
    return folder


@pytest.fixture
def taught(tmp_path) -> tuple[Path, str]:
    """A classifier in a file, and the name of its backbone, a small one in a folder."""
    name = f"hf:{dinov2_folder(tmp_path / 'dino')}"
    model = Classifier(Encoder(name, engine="torch"), "NCM")
    model.learn(pictures(4), ["a", "a", "b", "b"])
    model.save(tmp_path / "model.anacp")
    return tmp_path / "model.anacp", name


def renamed(path: Path, name: str) -> None:
    """Let the file name another backbone, with digests that are right."""
    file = TensorFile(path, MODEL)
    header = {key: value for key, value in file.header.items() if key != "written_by"}
    write_tensors(path, MODEL, header | {"backbone": header["backbone"] | {"name": name}}, file.tensors())


def test_code_that_comes_with_a_model_is_not_run(stranger, tmp_path) -> None:
    with pytest.raises(UnavailableError, match=r"brings Python code of its own.*--remote-code"):
        backbone(f"hf:{stranger}")
    assert not (tmp_path / "mark").exists()


def test_a_model_file_runs_no_code(stranger, taught, tmp_path, alone) -> None:
    path, _ = taught
    renamed(path, f"hf:{stranger}")
    with pytest.raises(UnavailableError, match=f"wants 'hf:{stranger}'.*Nothing was loaded.*--backbone hf:{stranger}"):
        anacp.load(path).predict(pictures(2))
    noted = json.loads((alone / "backbones.json").read_text())
    (alone / "backbones.json").write_text(json.dumps(noted | {f"hf:{stranger}": ""}))  # even if it had been named
    with pytest.raises((UnavailableError, MismatchError)):
        anacp.load(path).predict(pictures(2))
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", ["hf:someone/something", "hf:../../etc", "hf:bert-base-uncased", "dinov2-large"])
def test_a_model_file_makes_no_request(taught, name: str) -> None:
    path, _ = taught
    renamed(path, name)
    with pytest.raises(UnavailableError, match=f"If you trust it, give|To fetch them, give.*--backbone {name}"):
        anacp.load(path).predict(pictures(2))


def test_what_a_person_named_here_is_found_again(taught, alone) -> None:
    path, name = taught
    labels = anacp.load(path).predict(pictures(4))
    (alone / "backbones.json").unlink()  # another machine
    with pytest.raises(UnavailableError, match="nobody has named on this machine"):
        known_backbone(name)
    np.testing.assert_array_equal(anacp.load(path, backbone=name).predict(pictures(4)), labels)


def test_weights_that_changed_are_refused_before_they_are_loaded(taught, monkeypatch: pytest.MonkeyPatch) -> None:
    path, name = taught
    (weights,) = Path(name.removeprefix("hf:")).glob("*.safetensors")
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    with monkeypatch.context() as patch:
        patch.setattr("anacp.backbones.loading.load_hub", lambda *_, **__: pytest.fail("loaded"))
        with pytest.raises(MismatchError, match="not loaded for a model file"):
            known_backbone(name)
    with pytest.raises(MismatchError, match="The weights or their preprocessing have changed"):
        anacp.load(path, backbone=name)  # a person may load them; the model is still none of theirs
