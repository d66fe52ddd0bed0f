"""An item is held by its content: the same wherever it lies, other where a network would see something else."""

import numpy as np
import pytest
from PIL import Image

from anacp.errors import ImageError, InputError
from anacp.items import ArrayImage, ImageFile, as_items, content_hash, hold, open_image
from tests.backbones.models import pictures


def test_a_file_is_its_bytes_whatever_it_is_called(tmp_path) -> None:
    pictures(1)[0].save(tmp_path / "one.png")
    (tmp_path / "other").write_bytes((tmp_path / "one.png").read_bytes())
    sources = (tmp_path / "one.png", str(tmp_path / "other"), ImageFile(tmp_path / "other", name="cat"))
    held = [hold(source, "image") for source in sources]
    content = (tmp_path / "one.png").read_bytes()
    assert {one.digest.hex() for one in held} == {content_hash(content)} == {ImageFile(tmp_path / "one.png").digest()}
    (tmp_path / "one.png").unlink()
    for one in held:  # nothing is read again
        assert one.source.read() == content
        np.testing.assert_array_equal(np.asarray(open_image(one.source)), np.asarray(pictures(1)[0]))


def test_texts_are_held_by_their_characters() -> None:
    texts = ["a", "b", "", "a ", "\udc80"]  # the last is what an undecodable file name becomes
    assert len({hold(text, "text").digest for text in texts}) == len(texts)
    assert hold("a", "text").source == "a"
    with pytest.raises(InputError, match="got int at position 3"):
        hold(7, "text", 3)


def test_pictures_in_memory_differ_where_they_look_different() -> None:
    plain = Image.new("P", (2, 2))
    plain.putpalette([0, 0, 0, 250, 250, 250])
    other_palette, transparent, turned = plain.copy(), plain.copy(), Image.new("RGB", (2, 2))
    other_palette.putpalette([9, 9, 9, 250, 250, 250])
    transparent.info["transparency"] = 0
    turned.getexif()[0x0112] = 6
    array = ArrayImage(np.zeros((2, 2, 3), np.uint8), "black")
    distinct = [plain, other_palette, transparent, turned, Image.new("RGB", (2, 2)), Image.new("RGB", (4, 1)), array]
    assert len({hold(image, "image").digest for image in distinct}) == len(distinct)
    assert hold(transparent.copy(), "image").digest == hold(transparent, "image").digest


def test_what_cannot_be_read_is_named(tmp_path) -> None:
    pictures(1)[0].save(tmp_path / "half.png")
    (tmp_path / "half.png").write_bytes((tmp_path / "half.png").read_bytes()[:-60])
    with Image.open(tmp_path / "half.png") as half, pytest.raises(ImageError, match="truncated"):
        hold(half, "image")
    with pytest.raises(ImageError, match=r"does not exist.*gone.png"):
        hold(tmp_path / "gone.png", "image")
    with pytest.raises(ImageError, match=str(tmp_path)):
        hold(tmp_path, "image")
    with pytest.raises(ImageError, match="got int"):
        hold(7, "image")


def test_a_list_is_expected() -> None:
    for single in ("text", Image.new("RGB", (2, 2)), 7):
        with pytest.raises(InputError, match="Put it into a list"):
            as_items(single)
    assert as_items(("a", "b")) == ["a", "b"]
