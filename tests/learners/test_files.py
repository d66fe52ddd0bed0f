"""Model files: readable, atomic, and refused clearly when something is wrong."""

import json
import os
import stat
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import anacp
from anacp.catalogue import METHODS
from anacp.errors import ModelFileError, UnknownNameError
from anacp.learners import base
from tests.conftest import blobs


@pytest.fixture
def model() -> anacp.AnaCP:
    x, y = blobs()
    return anacp.AnaCP(n_projected=20, n_heads=1).partial_fit(x, y)


@pytest.fixture
def path(model: anacp.AnaCP, tmp_path):
    model.save(tmp_path / "model.anacp")
    return tmp_path / "model.anacp"


def test_metadata_is_readable(path) -> None:
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    assert metadata["format"] == "anacp-model"
    assert metadata["format_version"] == "1"
    assert json.loads(metadata["learner"]) == "AnaCP"
    assert json.loads(metadata["parameters"])["n_projected"] == 20
    assert json.loads(metadata["classes"]) == [0, 1, 2, 3, 4]


def test_file_is_as_accessible_as_any_other(path, tmp_path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_truncated(path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelFileError, match="truncated, damaged or of another kind"):
        anacp.load(path)


def test_a_flipped_bit_is_found_in_every_tensor(model: anacp.AnaCP, path) -> None:
    model.solve(probabilities=True).save(path)
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    places = {name: 8 + length + one["data_offsets"][0] for name, one in header.items() if name != "__metadata__"}
    assert len(places) == 13
    for name, place in places.items():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ModelFileError, match=f"{name} is not as it was written"):
            anacp.load(path).partial_fit(*blobs()).solve()


def test_foreign(tmp_path) -> None:
    save_file({"weights": torch.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(ModelFileError, match="safetensors file of another kind"):
        anacp.load(tmp_path / "other.safetensors")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff" * 50)
    with pytest.raises(ModelFileError, match="of another kind"):
        anacp.load(tmp_path / "photo.jpg")


def test_missing(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="No anacp model at"):
        anacp.load(tmp_path / "nothing")


def test_newer(model: anacp.AnaCP, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MODEL", replace(base.MODEL, version=2))
    model.save(tmp_path / "newer")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"version 1 or older, got 2.*Upgrade anacp"):
        anacp.load(tmp_path / "newer")


def test_a_crash_while_writing_keeps_the_old_file(model: anacp.AnaCP, path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["model.anacp"]


def test_near_miss_names_are_answered() -> None:
    assert METHODS.find("anacp").make is anacp.AnaCP
    with pytest.raises(UnknownNameError, match="Did you mean 'AnaCP'"):
        METHODS.find("AnaPC")
    with pytest.raises(UnknownNameError, match="Known: ACIL, AnaCP"):
        METHODS.find("gradient descent")


def test_column_names_survive(tmp_path) -> None:
    x, y = blobs(n_features=2)
    model = anacp.NCM().partial_fit(x, y)
    model.feature_names_in_ = np.array(["width", "height"], dtype=object)
    model.save(tmp_path / "model")
    assert anacp.load(tmp_path / "model").feature_names_in_.tolist() == ["width", "height"]
