"""Model files: readable, atomic, and refused clearly when something is wrong."""

import json
import os
import random
import stat
import subprocess
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import anacp
from anacp.catalogue import METHODS
from anacp.errors import ModelFileError, UnknownNameError
from anacp.files import TensorFile, write_tensors
from anacp.learners import MODEL, base
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
    assert metadata["format_version"] == "3"
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


def test_single_bit_flips_of_a_solved_model_are_all_found(tmp_path) -> None:
    path = tmp_path / "model"
    x, y = blobs(n_classes=2, n_rows=8, n_features=2)
    anacp.NCM().partial_fit(x, y).solve(probabilities=True).save(path)
    whole, draw = path.read_bytes(), random.Random(0)
    for place in draw.sample(range(8 * len(whole)), 2000):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError):
            anacp.load(path).save(tmp_path / "again")  # reads what is read later, too


def rewritten(path, changes: dict[str, object] | None = None, **tensors: torch.Tensor | None) -> None:
    """Write the file again with other contents, and digests that are right."""
    file = TensorFile(path, MODEL)
    header = {key: value for key, value in file.header.items() if key != "written_by"} | (changes or {})
    named = {name.replace("__", ".").replace("_0", " 0"): one for name, one in tensors.items()}
    contents = {name: one for name, one in (file.tensors() | named).items() if one is not None}
    write_tensors(path, MODEL, {key: value for key, value in header.items() if value is not None}, contents)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": [0, 1, 2, 3, 3]}, "a class is listed twice"),
        ({"classes": [0, 1, 2, 4, 3]}, "classes are not sorted"),
        ({"classes": [0, 1, 2, 3]}, r"is I64 \[5\], not I64 \[4\]"),
        ({"classes": []}, "not all of the kind"),
        ({"classes": [0, 1, 2, 3, "4"]}, "not all of the kind"),
        ({"classes": [0, 1, 2, 3, 10**30]}, "do not fit"),
        ({"classes": ["a", "b", "c", "d", "longer"], "classes_dtype": "<U1"}, "would cut a label of 6"),
        ({"classes": ["a", "b", "c", "d", "e\0"], "classes_dtype": "<U2"}, "would change a label"),
        ({"classes_dtype": "<M8[s]"}, "of no kind"),
        ({"classes_dtype": "|O"}, "not all of the kind"),
        ({"classes": [0.0, 1.0, 2.0, 3.0, float("nan")], "classes_dtype": "<f8"}, "not all finite"),
        ({"solution": {"sharpness": float("nan")}}, "sharpness is nan"),
        ({"solution": {"sharpness": 0.0}}, "sharpness is 0.0"),
        ({"solution": {"sharpness": "1"}}, "sharpness is '1'"),
        ({"solution": None}, "which nothing it says asks for"),
        ({"n_features": 9}, "moments.means is"),
        ({"n_features": 0}, "n_features is 0"),
        ({"n_features": 10**12}, "n_features is 1000000000000"),
        ({"n_features": True}, "n_features is True"),
        ({"feature_names": ["a"] * 8}, "not 8 distinct texts"),
        ({"feature_names": ["a"]}, "not 8 distinct texts"),
        ({"kind": "other"}, "its kind is none of"),
        ({"kind": None}, "its kind is none of"),
        ({"kind": "trained"}, "is missing"),
        ({"learner": 3}, "learner is 3"),
        ({"learner": "L2P"}, "no learner of features"),
        ({"learner": "NCM"}, "parameters are not those of NCM"),
        ({"more": 1}, "'more' is unknown"),
    ],
)
def test_a_header_that_cannot_be_is_refused(model, path, changes: dict[str, object], message: str) -> None:
    model.solve(probabilities=True).save(path)
    rewritten(path)
    anacp.load(path)
    rewritten(path, changes)
    with pytest.raises(ModelFileError, match=message) as caught:
        anacp.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_projected", 21),
        ("n_projected", 10**9),
        ("n_projected", 2**31 - 1),
        ("n_projected", 10**400),
        ("n_projected", "20"),
        ("n_heads", 2),
        ("n_heads", 10**9),
        ("n_heads", -1),
        ("ridge", float("nan")),
        ("ridge", float("inf")),
        ("ridge", 10**30),
        ("ridge", None),
        ("ridge", "squared error"),
        ("covariance", "class"),
        ("classifier", "ncm"),
        ("dtype", "float64"),
        ("dtype", []),
        ("unknown", 1),
    ],
)
def test_parameters_that_are_not_those_of_the_tensors_are_refused_at_once(model, path, name: str, value) -> None:
    model.solve().save(path)
    parameters = TensorFile(path, MODEL).header["parameters"]
    rewritten(path, {"parameters": parameters | {name: value}})
    assert path.stat().st_size < 12_000
    with pytest.raises(ModelFileError):
        anacp.load(path)  # the first time, torch may import modules of its own
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        anacp.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


def test_a_parameter_of_a_later_version_has_its_default(model, path) -> None:
    model.save(path)
    parameters = TensorFile(path, MODEL).header["parameters"]
    rewritten(path, {"parameters": {name: one for name, one in parameters.items() if name != "targets"}})
    assert anacp.load(path).targets == "paper"


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"moments__counts": torch.tensor([12, 12, 12, 12, 0])}, "a class without examples"),
        ({"moments__counts": torch.tensor([12, 12, 12, 12, -12])}, "cannot be counted"),
        ({"moments__counts": torch.tensor([12, 12, 12, 12, 13])}, "counts other examples than moments.counts"),
        ({"head_0__counts": torch.tensor([1, 1, 1, 1, 1])}, "counts other examples than moments.counts"),
        ({"moments__means": torch.full((5, 8), torch.nan, dtype=torch.float64)}, "moments.means holds NaN"),
        ({"moments__means": torch.zeros(5, 8)}, "is F32"),
        ({"head_0__gram": torch.zeros(210).double()}, "is F64"),
        ({"head_0__gram": torch.zeros(211)}, r"is F32 \[211\]"),
        ({"head_0__gram": None}, "it lacks 'head 0.gram'"),
        ({"head_1__gram": torch.zeros(210)}, "which nothing it says asks for"),
        ({"solution__weights": torch.zeros(20, 4)}, r"not F32 \[20, 5\]"),
        ({"solution__weights": torch.full((20, 5), torch.inf)}, "solution.weights holds NaN or infinity"),
        ({"solution__readout": None}, "it lacks 'solution.readout'"),
    ],
)
def test_tensors_that_cannot_be_are_refused(model, path, tensors, message: str) -> None:
    model.solve(probabilities=True).save(path)
    rewritten(path, **tensors)
    with pytest.raises(ModelFileError, match=message):
        anacp.load(path).partial_fit(*blobs()).solve()


def test_rows_of_classes_that_there_are_not_are_refused(path) -> None:
    x, y = blobs()
    anacp.LinearProbe(n_epochs=1).partial_fit(x, y).save(path)
    rows = TensorFile(path, MODEL).tensors("rows.")
    rewritten(path, rows__classes=rows["classes"] + 1)
    with pytest.raises(ModelFileError, match="not all among its 5 classes"):
        anacp.load(path).predict(x)
    rewritten(path, rows__classes=rows["classes"].clamp_max(4)[:-1])
    with pytest.raises(ModelFileError, match=r"rows\.classes is"):
        anacp.load(path)


def test_padding_of_labels_costs_nothing(path) -> None:
    x, y = blobs()
    anacp.NCM().partial_fit(x, np.array(["a", "b", "c", "d", "e"])[y]).save(path)
    rewritten(path, {"classes_dtype": "<U99999999"})
    tracemalloc.start()
    classes = anacp.load(path).classes_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert classes.tolist() == ["a", "b", "c", "d", "e"]
    assert peak < 1e6


def test_a_solved_model_predicts_without_reading_its_statistics(model, path) -> None:
    x, _ = blobs()
    expected = model.solve(probabilities=True).predict_proba(x)
    model.save(path)
    moments = TensorFile(path, MODEL).tensors("moments.")
    rewritten(path, moments__means=moments["means"] * torch.nan)
    loaded = anacp.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(x), expected)
    with pytest.raises(ModelFileError, match=r"moments\.means holds NaN"):
        loaded.partial_fit(*blobs()).solve()


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
    monkeypatch.setattr(base, "MODEL", replace(base.MODEL, version=4))
    model.save(tmp_path / "newer")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"version 3 or older, got 4.*Upgrade anacp"):
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


def test_loading_is_quick_because_it_imports_nothing(tmp_path) -> None:
    """Some operations on tensors without numbers have torch import hundreds of modules, which takes a second."""
    x, y = blobs()
    paths = []
    for learner in (anacp.AnaCP(n_projected=20, covariance="class"), anacp.LoRanPAC(n_projected=20), anacp.NCM()):
        paths.append(str(tmp_path / type(learner).__name__))
        learner.partial_fit(x, y).save(paths[-1])
    code = "import sys; from anacp.catalogue import METHODS; from anacp.methods import load; before = set(sys.modules)"
    code += "; [load(path) for path in sys.argv[1:]]"
    code += "; print(sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    assert "torch" not in printed.stdout
