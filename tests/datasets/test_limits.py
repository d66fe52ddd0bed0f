"""Data that would fill the memory or the disk, or never end, is refused before it does."""

import gzip
import json
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from anacp.datasets import ZipImage, open_dataset, read_labelled
from anacp.datasets.archives import index_tar, index_zip
from anacp.errors import DataFileError, ImageError, TooLargeError
from anacp.items import hold
from tests.datasets import layouts

MEGABYTE = bytes(1_000_000)


def zip_bomb(path: Path, megabytes: int) -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("cat/0.png", "w", force_zip64=True) as member,
    ):
        for _ in range(megabytes):
            member.write(MEGABYTE)
    return path


def test_a_member_of_a_zip_is_not_inflated_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zip_bomb(tmp_path / "bomb.zip", 210)
    assert path.stat().st_size < 300_000
    (image,) = index_zip(path).files.values()
    with pytest.raises(TooLargeError, match=r"at most 200 MB, got 210 MB: cat/0\.png in .*ANACP_MAX_FILE_BYTES"):
        image.read()
    with pytest.raises(ImageError, match="at most 200 MB, got 210 MB"):
        hold(image, "image")
    small = zip_bomb(tmp_path / "small.zip", 2)
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", "1_999_999")
    with pytest.raises(TooLargeError, match="at most 2 MB"):
        index_zip(small).files["cat/0.png"].read()
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", "2_000_000")
    assert index_zip(small).files["cat/0.png"].read() == 2 * MEGABYTE


@pytest.mark.parametrize("stated", [0, 1000, 1_999_999, 2_000_001])
def test_no_more_is_inflated_than_the_archive_states(stated: int, tmp_path: Path) -> None:
    (image,) = index_zip(zip_bomb(tmp_path / "bomb.zip", 2)).files.values()
    assert isinstance(image, ZipImage)
    lying = ZipImage(image.archive, image.name, image.header, image.size, stated, True, image.checksum)
    assert len(lying._beginning(image.size, stated + 1)) <= stated + 1
    with pytest.raises(DataFileError, match="does not match its checksum"):
        lying.read()


def gzip_bomb(path: Path, megabytes: int) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(megabytes):
            file.write(MEGABYTE)
    return path


def test_a_compressed_tar_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gzip_bomb(tmp_path / "bomb.tar.gz", 30)
    monkeypatch.setenv("ANACP_MAX_EXPANDED_BYTES", "5_000_000")
    with pytest.raises(TooLargeError, match=r"at most 5 MB, got more: .*bomb\.tar\.gz.*ANACP_MAX_EXPANDED_BYTES"):
        index_tar(path)
    assert [one.name for one in tmp_path.iterdir()] == ["bomb.tar.gz"]
    monkeypatch.setenv("ANACP_MAX_EXPANDED_BYTES", "30_000_000")
    assert index_tar(path) == ({}, set())  # all zeros: an empty archive
    assert (tmp_path / "bomb.tar.gz.tar").stat().st_size == 30_000_000


def test_a_compressed_tar_in_proportion_needs_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_MAX_EXPANDED_BYTES", "1")
    files = {f"cat/{row}.png": np.random.default_rng(row).bytes(5000) for row in range(4)}
    assert index_tar(layouts.write(files, tmp_path / "pets.tgz")).files.keys() == files.keys()


def test_a_tar_that_states_more_than_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is the memory for it asked for, nor what is stated believed."""
    layouts.write({"cat/0.png": b"x" * 3000}, tmp_path / "pets.tar")
    (image,) = index_tar(tmp_path / "pets.tar").files.values()
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", "1_000_000_000_000_000")
    with pytest.raises(DataFileError, match="bytes expected at 512"):
        type(image)(image.archive, image.name, image.start, 10**14).read()
    monkeypatch.setenv("ANACP_MAX_FILE_BYTES", "2_999")
    with pytest.raises(TooLargeError, match="at most 3 kB"):
        image.read()


def test_a_tar_of_files_with_holes(tmp_path: Path) -> None:
    member = tarfile.TarInfo("cat/0.png")
    member.type = tarfile.GNUTYPE_SPARSE
    (tmp_path / "holes.tar").write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    with pytest.raises(DataFileError, match=r"holes\.tar"):
        index_tar(tmp_path / "holes.tar")


NESTED = "[" * 50_000 + "]" * 50_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", NESTED),
        ("a.jsonl", NESTED),
        ("a.jsonl", f'{{"text": "x", "label": {NESTED}}}'),
        ("dataset_dict.json", NESTED),
        ("dataset_dict.json", "{}"),
        ("state.json", NESTED),
    ],
)
def test_json_nested_without_end(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / "cub-200-2011" / name
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(DataFileError, match=name):
        open_dataset(path if name.startswith("a.") else "cub-200-2011", root=tmp_path)


@pytest.mark.parametrize("names", [NESTED, '{"features": 3}', '{"features": {"label": {"names": {"a": "b"}}}}', "[]"])
def test_class_names_that_are_something_else(names: str, tmp_path: Path) -> None:
    table = pyarrow.table({"features": [[0.0], [1.0]], "label": [0, 1], "split": ["train", "test"]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "dataset_info.json").write_text(names)
    with pytest.raises(DataFileError, match=r"Expected class names .*a\.parquet"):
        open_dataset(tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.npz", "a.zip", "a.tar", "a.tgz", "a.json", "a.parquet"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((DataFileError, FileNotFoundError), match=name):
        open_dataset(tmp_path / name)


def test_a_pipe_among_photos(tmp_path: Path) -> None:
    layouts.write({"pets/cat/0.png": layouts.picture(0), "pets/dog/0.png": layouts.picture(1)}, tmp_path)
    os.mkfifo(tmp_path / "pets" / "cat" / "1.png")
    examples = read_labelled(tmp_path / "pets")
    assert len(examples) == 3
    with pytest.raises(ImageError, match=r"got a named pipe: .*cat/1\.png"):
        hold(examples.items[1], "image")


def test_a_pipe_among_tables(tmp_path: Path) -> None:
    (tmp_path / "cub-200-2011").mkdir()
    for split in ("train", "test"):
        os.mkfifo(tmp_path / "cub-200-2011" / f"{split}-0.parquet")
    with pytest.raises(DataFileError, match="got a named pipe"):
        open_dataset("cub-200-2011", root=tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_table_that_is_too_large(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("how warm is it", "weather"), ("pay my rent", "bank")] * 5
    lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
    table = ["text,label", *map(",".join, rows)] if name == "a.csv" else lines
    (tmp_path / name).write_text("\n".join(table))
    assert len(read_labelled(tmp_path / name)) == 10
    monkeypatch.setenv("ANACP_MAX_TABLE_BYTES", "100")
    with pytest.raises(TooLargeError, match=r"at most 100 B, got .*ANACP_MAX_TABLE_BYTES"):
        read_labelled(tmp_path / name)


def test_every_byte_of_an_archive_may_be_wrong(tmp_path: Path) -> None:
    """An archive is read as it is or refused, whatever a byte of it becomes: one error, and never another."""
    for suffix in ("zip", "tar"):
        whole = layouts.write({"cat/0.png": b"x" * 60, "dog/0.png": b"y" * 60}, tmp_path / f"a.{suffix}").read_bytes()
        places = range(len(whole)) if suffix == "zip" else range(0, 1600, 2)
        for place in places:
            for flip in (1, 0xFF):
                changed = bytearray(whole)
                changed[place] ^= flip
                (tmp_path / f"b.{suffix}").write_bytes(changed)
                try:
                    found = (index_zip if suffix == "zip" else index_tar)(tmp_path / f"b.{suffix}").files
                    for image in found.values():
                        image.read()
                except DataFileError:
                    pass
