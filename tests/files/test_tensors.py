"""Files of tensors: every bit is checked, and nothing is believed that was not."""

import json
import os
import random
import threading

import pytest
import torch
from safetensors.torch import save_file

from anacp.errors import MissingDataError, ModelFileError, UncheckedFileWarning
from anacp.files import Fact, FileKind, Record, TensorFile, headers, write_tensors

KIND = FileKind("anacp-test", 2, "a test file")
TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b.counts": torch.tensor([1, 2]), "none": torch.empty(0)}


@pytest.fixture
def path(tmp_path):
    write_tensors(tmp_path / "file", KIND, {"name": "x", "list": [1, 2]}, TENSORS)
    return tmp_path / "file"


def test_what_is_written_is_read(path) -> None:
    file = TensorFile(path, KIND)
    assert file.sealed
    assert file.header["name"] == "x"
    assert file.sizes() == {"a": (2, 3), "b.counts": (2,), "none": (0,)}
    for name, tensor in file.tensors().items():
        assert torch.equal(tensor, TENSORS[name])


def test_every_single_flipped_bit_is_found(path) -> None:
    whole = path.read_bytes()
    for place in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError):
            TensorFile(path, KIND).tensors()


def test_damage_of_any_kind_is_one_error_and_one_line(path) -> None:
    whole, draw = path.read_bytes(), random.Random(0)
    for _ in range(1000):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            kind, place = draw.randrange(3), draw.randrange(len(damaged))
            if kind == 0:
                damaged[place] = draw.randrange(256)
            elif kind == 1:
                del damaged[place : place + draw.randrange(20)]
            else:
                damaged[place:place] = draw.randbytes(draw.randrange(20))
            damaged = damaged or bytearray(1)
        if damaged == whole:
            continue
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError) as caught:
            TensorFile(path, KIND).tensors()
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("gone", ["header_digest", "digests"])
def test_a_file_without_its_digests_is_refused(path, gone: str) -> None:
    digests = {} if gone == "digests" else {"digests": json.dumps(dict.fromkeys(TENSORS, ""))}
    metadata = {"format": "anacp-test", "format_version": "2"} | digests
    save_file(TENSORS, path, metadata | ({"header_digest": headers.BLANK} if gone == "digests" else {}))
    if gone == "digests":
        headers.seal(path)
    with pytest.raises(ModelFileError, match="digest"):
        TensorFile(path, KIND)


def test_a_file_of_an_earlier_version_is_read_with_a_warning(path) -> None:
    metadata = {"format": "anacp-test", "format_version": "1", "written_by": "anacp 0.0", "name": '"x"'}
    save_file({"a": torch.zeros(2)}, path, metadata)
    with pytest.warns(UncheckedFileWarning, match="written by anacp 0.0"):
        file = TensorFile(path, KIND)
    assert not file.sealed
    assert file.tensors()["a"].tolist() == [0, 0]


@pytest.mark.parametrize(
    "text", ["[" * 100_000 + "]" * 100_000, "[" * 100_000, "1" * 5000, "{", "", '{"a":' * 50_000 + "1" + "}" * 50_000]
)
def test_metadata_that_is_no_json_is_refused(path, text: str) -> None:
    tensors = {"a": torch.zeros(2)}
    save_file(tensors, path, {"format": "anacp-test", "format_version": "1", "name": text})
    with pytest.raises(ModelFileError, match="damaged"):
        TensorFile(path, KIND)


@pytest.mark.parametrize("length", [2**63, 2**40, 2**27, 10**6])
def test_a_header_is_bounded_before_it_is_read(path, length: int) -> None:
    with path.open("wb") as file:  # sparse: no byte of it is on the disk
        file.write(length.to_bytes(8, "little"))
        file.truncate(2**28 if length == 2**27 else 4096)
    with pytest.raises(ModelFileError, match=r"ends before its header|more than"):
        TensorFile(path, KIND)


def test_only_regular_files_are_read(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done: list[str] = []

    def read() -> None:
        with pytest.raises(ModelFileError, match="not a regular file"):
            TensorFile(tmp_path / "pipe", KIND)
        done.append("refused")

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(20)
    assert done == ["refused"]
    with pytest.raises(MissingDataError):
        TensorFile(tmp_path, KIND)


def test_numbers_that_are_not_finite_are_refused(path) -> None:
    for bad in (torch.nan, torch.inf):
        write_tensors(path, KIND, {}, {"a": torch.tensor([1.0, bad])})
        with pytest.raises(ModelFileError, match="a holds NaN or infinity"):
            TensorFile(path, KIND).tensors()


def test_other_tensors_than_expected_are_refused_before_any_is_read(path) -> None:
    file = TensorFile(path, KIND)
    file.check_tensors(TENSORS)
    for others, message in (
        ({**TENSORS, "c": torch.zeros(1)}, "it lacks 'c'"),
        ({"a": TENSORS["a"]}, "it holds 'b.counts', 'none', which nothing"),
        ({**TENSORS, "a": torch.zeros(3, 2)}, r"a is F32 \[2, 3\], not F32 \[3, 2\]"),
        ({**TENSORS, "a": TENSORS["a"].double()}, "not F64"),
    ):
        with pytest.raises(ModelFileError, match=message):
            file.check_tensors(others)


def test_another_header_than_expected_is_refused(path) -> None:
    file, integers = TensorFile(path, KIND), Fact.whole(1).several
    file.check_header(Record({"name": Fact.text()}, {"list": integers, "more": Fact.flag()}))
    for record, message in (
        (Record({"name": Fact.text()}), "'list' is unknown"),
        (Record({"name": Fact.text(), "list": integers, "more": Fact.flag()}), "more is missing"),
        (Record({"name": Fact.whole(), "list": integers}), "name is 'x', not an integer"),
        (Record({"name": Fact.text(), "list": Fact.whole(2).several}), "list is a list, not a list, each of them"),
        (Record({"name": Record({}), "list": integers}), "name is 'x', not a record"),
    ):
        with pytest.raises(ModelFileError, match=message):
            file.check_header(record)


def test_a_header_that_could_not_be_read_is_not_written(path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr("anacp.files.tensors.LARGEST_HEADER", 1000)
    with pytest.raises(ModelFileError, match="at most 500 characters"):
        write_tensors(path, KIND, {"name": "x" * 1000}, TENSORS)
    assert path.read_bytes() == before
