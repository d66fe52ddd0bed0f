"""Sizes are known before they are allocated, and refused with the number and the setting that raises the limit."""

import os
import socket
import zipfile
from pathlib import Path

import numpy as np
import pytest

from anacp.errors import DataFileError, ParameterError, TooLargeError
from anacp.files import LIMITS, MAX_FILE, open_regular, parse_json, read_arrays, read_json, read_regular, read_toml

PAGE = Path(__file__).resolve().parents[2] / "docs" / "datasets.md"


def test_every_limit_is_documented() -> None:
    page = PAGE.read_text()
    for limit in LIMITS:
        assert f"| `{limit.setting}` | {limit.shown(limit.default)} | {limit.of} |" in page, limit


@pytest.mark.parametrize("value", ["many", "-1", "0", "1.5"])
def test_a_limit_that_is_no_number_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", value)
    with pytest.raises(ParameterError, match="whole number of bytes in ANACP_MAX_FILE_BYTES"):
        MAX_FILE.check(1, "a file")


def test_the_message_has_the_number_and_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sparse.png"
    path.touch()
    os.truncate(path, 3_000_000_000)
    with pytest.raises(TooLargeError, match=r"at most 200 MB, got 3 GB: .*sparse\.png.*ANACP_MAX_FILE_BYTES"):
        read_regular(path)
    os.truncate(path, 1000)
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", "999")
    with pytest.raises(TooLargeError, match="at most 999 B, got 1 kB"):
        read_regular(path)
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", "1_000")
    assert read_regular(path) == bytes(1000)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(tmp_path / "socket.png"))
        for name, kind in (("pipe.png", "a named pipe"), ("socket.png", "a socket"), (".", "a folder")):
            with pytest.raises(DataFileError, match=f"regular file, got {kind}"):
                open_regular(tmp_path / name)
    (tmp_path / "link.png").symlink_to("/dev/zero")
    with pytest.raises(DataFileError, match="got a device"):
        read_regular(tmp_path / "link.png")
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nowhere.png")
    with open_regular(__file__) as file:
        assert file.readline().startswith(b'"""Sizes are known')


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, look = tmp_path / "one.png", os.stat
    path.touch()

    def look_and_replace(*arguments: object, **options: bool) -> os.stat_result:
        seen = look(*arguments, **options)
        path.unlink()
        os.mkfifo(path)
        return seen

    monkeypatch.setattr("anacp.files.regular.os.stat", look_and_replace)
    with pytest.raises(DataFileError, match="got a named pipe"):
        open_regular(path)


NESTED = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "text", [NESTED, "[" * 400 + "]" * 400, '{"a":' * 5000 + "1" + "}" * 5000, "{", "9" * 5000, "\udcff"]
)
def test_json_that_is_damaged_or_nested_without_end(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataFileError, match=r"Expected a JSON file, got .*a\.json"):
        read_json(path)
    with pytest.raises(ValueError, match=r"."):
        parse_json(path.read_bytes())


def test_documents_of_usual_depth_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_json('{"a": [1, {"b": []}]}') == {"a": [1, {"b": []}]}
    assert parse_json("[" * 50 + "]" * 50)
    (tmp_path / "a.json").write_text("[1, 2, 3]")
    (tmp_path / "a.toml").write_text("a = 'é'")
    assert read_json(tmp_path / "a.json") == [1, 2, 3]
    assert read_toml(tmp_path / "a.toml") == {"a": "é"}
    (tmp_path / "deep.toml").write_text(f"a = {NESTED}")
    with pytest.raises(DataFileError, match=r"Expected a TOML file, got .*nested"):
        read_toml(tmp_path / "deep.toml")
    monkeypatch.setenv("ANACP_MAX_DOCUMENT_BYTES", "8")
    with pytest.raises(TooLargeError, match=r"at most 8 B, got 9 B.*ANACP_MAX_DOCUMENT_BYTES"):
        read_json(tmp_path / "a.json")
    with pytest.raises(TooLargeError, match="ANACP_MAX_DOCUMENT_BYTES"):
        parse_json(b"[1, 2, 3]")


def npz(path: Path, **arrays: np.ndarray) -> Path:
    np.savez_compressed(path, **arrays)
    return path


def test_arrays_come_back(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(["x", "yy"]), "c": np.array(7), "d": np.zeros((0, 3))}
    arrays["e"] = np.asfortranarray(arrays["a"])
    found = read_arrays(npz(tmp_path / "a.npz", **arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert read_arrays(tmp_path / "a.npz", ["b", "other"]).keys() == {"b"}


def header(shape: str) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize("shape", ["(10000000000000,)", "(1000000000,)", "(-1,)", "(3,)", "(4, 0)"])
def test_an_array_that_claims_another_size_is_never_made(shape: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", header(shape) + bytes(16))
    with pytest.raises(DataFileError, match="no plain array of the size that it states"):
        read_arrays(tmp_path / "a.npz")


def test_arrays_that_are_objects_damaged_or_foreign(tmp_path: Path) -> None:
    np.savez(tmp_path / "objects.npz", a=np.array([{}], object))
    whole = npz(tmp_path / "whole.npz", a=np.random.default_rng(0).normal(size=100)).read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[:300])
    (tmp_path / "flipped.npz").write_bytes(whole[:300] + bytes([whole[300] ^ 1]) + whole[301:])
    (tmp_path / "text.npz").write_text("not an archive")
    for name in ("objects", "half", "flipped", "text"):
        with pytest.raises(DataFileError, match=f"npz file of plain arrays.*{name}"):
            read_arrays(tmp_path / f"{name}.npz")


def bomb(path: Path, size: int) -> Path:
    """An array of zeros in a thousandth of its size; no more than a megabyte of it is ever in memory."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w", force_zip64=True) as to,
    ):
        to.write(header(f"({size // 4},)"))
        for _ in range(0, size, 1_000_000):
            to.write(bytes(1_000_000))
    return path


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "bomb.npz", 1_100_000_000)
    assert path.stat().st_size < 3_000_000
    with pytest.raises(TooLargeError, match=r"at most 1 GB, got 1\.1 GB.*bomb\.npz.*ANACP_MAX_EXPANDED_BYTES"):
        read_arrays(path)
    small = bomb(tmp_path / "small.npz", 4_000_000)
    monkeypatch.setenv("ANACP_MAX_EXPANDED_BYTES", "1_000_000")
    with pytest.raises(TooLargeError, match="at most 1 MB, got 4 MB"):
        read_arrays(small)
    monkeypatch.setenv("ANACP_MAX_EXPANDED_BYTES", "5_000_000")
    assert len(read_arrays(small)["a"]) == 1_000_000


def test_what_is_in_proportion_needs_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_MAX_EXPANDED_BYTES", "1")
    array = np.random.default_rng(0).normal(size=1000)
    np.testing.assert_array_equal(read_arrays(npz(tmp_path / "a.npz", a=array))["a"], array)


def test_the_stated_size_of_a_member_is_not_believed(tmp_path: Path) -> None:
    """The archive says 4 kB, the stream holds 4 MB: no more is inflated than the archive says."""
    content = bytearray(bomb(tmp_path / "bomb.npz", 4_000_000).read_bytes())
    real, said = (4_000_128).to_bytes(4, "little"), (4_128).to_bytes(4, "little")
    place = content.rindex(real)  # in the directory at the end; the local header has zip64's
    content[place : place + 4] = said
    (tmp_path / "bomb.npz").write_bytes(content)
    with pytest.raises(DataFileError, match=r"bomb\.npz"):
        read_arrays(tmp_path / "bomb.npz")
