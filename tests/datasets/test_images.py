"""Lazily readable images: what they promise, whatever they are stored in."""

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from anacp.datasets import ArrayImage, ImageFile, LazyImage, TarImage, ZipImage, open_dataset, read_folder
from anacp.errors import DataFileError, MissingDataError
from tests.datasets import layouts

FILES = {f"cat/{row}.png": layouts.picture(row, form="PNG") for row in range(10)}


def first(path: Path) -> LazyImage:
    return read_folder(path).train.items[0]


@pytest.mark.parametrize("place", ["pets", "pets.zip", "pets.tar", "pets.tgz"])
def test_same_content_same_digest_wherever_it_lies(place: str, tmp_path: Path) -> None:
    plain = first(layouts.write(FILES, tmp_path / "plain"))
    image = first(layouts.write(FILES, tmp_path / "other" / place))
    assert (image.name, image.digest()) == (plain.name, plain.digest())
    np.testing.assert_array_equal(np.asarray(image.open()), np.asarray(plain.open()))
    copy = pickle.loads(pickle.dumps(image))  # what a worker process gets
    assert copy == image
    assert copy.digest() == image.digest()


def test_a_compressed_tar_is_expanded_once(tmp_path: Path) -> None:
    path = layouts.write(FILES, tmp_path / "pets.tgz")
    read_folder(path)
    expanded = tmp_path / "pets.tgz.tar"
    written = expanded.stat().st_mtime_ns
    assert isinstance(first(path), TarImage)
    assert expanded.stat().st_mtime_ns == written
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pets.tgz", "pets.tgz.tar"]


def test_a_compressed_tar_that_cannot_be_expanded_leaves_nothing(tmp_path: Path) -> None:
    path = layouts.write(FILES, tmp_path / "pets.tgz")
    (tmp_path / "pets.tgz.tar").mkdir()
    with pytest.raises(DataFileError, match="Unpack the archive yourself"):
        read_folder(path)
    (tmp_path / "pets.tgz.tar").rmdir()
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataFileError, match="truncated"):
        read_folder(path)
    assert [p.name for p in tmp_path.iterdir()] == ["pets.tgz"]


def test_archive_that_changed_or_vanished_after_it_was_opened(tmp_path: Path) -> None:
    path = layouts.write(FILES, tmp_path / "pets.zip")
    image = first(path)
    assert isinstance(image, ZipImage)
    content = bytearray(path.read_bytes())
    content[image.header + 60] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"pets\.zip"):
        image.read()
    path.unlink()
    with pytest.raises(MissingDataError, match="moved or deleted"):
        image.open()


@pytest.mark.parametrize("size", [512, 1024, 1100, 1700])
def test_tar_that_ends_early(size: int, tmp_path: Path) -> None:
    """Between two files, within a header, within a file: each of these files takes 1,024 bytes."""
    path = layouts.write(FILES, tmp_path / "pets.tar")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DataFileError, match=r"pets\.tar"):
        read_folder(path)


def test_zip_in_another_compression(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pets.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("cat/0.png", FILES["cat/0.png"])
    with pytest.raises(DataFileError, match="Unpack the archive"):
        read_folder(tmp_path / "pets.zip")


def test_image_that_cannot_be_decoded(tmp_path: Path) -> None:
    layouts.write({**FILES, "cat/0.png": b"not a picture", "cat/1.png": FILES["cat/1.png"][:60]}, tmp_path / "pets")
    for name in ("0.png", "1.png"):
        with pytest.raises(DataFileError, match=f"cannot be decoded: .*{name}"):
            ImageFile(tmp_path / "pets" / "cat" / name).open()
    with pytest.raises(MissingDataError, match=r"nowhere\.png"):
        ImageFile(tmp_path / "nowhere.png").open()


def test_file_and_array() -> None:
    assert ImageFile(Path("a/b.png")).name == "b.png"
    pixels = np.random.default_rng(0).integers(256, size=(2, 3, 3), dtype=np.uint8)
    image = ArrayImage(pixels, "x")
    np.testing.assert_array_equal(np.asarray(image.open()), pixels)
    assert image.digest() != ArrayImage(pixels.reshape(3, 2, 3), "x").digest()


def test_opening_an_archive_holds_no_images(tmp_path: Path) -> None:
    files = {f"cat/{row}.png": bytes(1_000_000) for row in range(10)}
    for place in ("big.tar", "big.zip", "big"):
        data = open_dataset(f"folder:{layouts.write(files, tmp_path / place)}")
        assert len(pickle.dumps(data)) < 20_000
