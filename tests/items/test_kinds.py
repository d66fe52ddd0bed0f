"""Pictures are told by their content: every format that is read is recognised, and what is none is not."""

import io
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from PIL import Image

from anacp.errors import ImageError
from anacp.items import LONGEST_HEAD, ImageFile, open_image, picture_kind

FORMS = {
    "JPEG": "JPEG",
    "PNG": "PNG",
    "GIF": "GIF",
    "BMP": "BMP",
    "TIFF": "TIFF",
    "WEBP": "WebP",
    "PPM": "PPM",
    "AVIF": "AVIF",
    "JPEG2000": "JPEG 2000",
    "HEIF": "HEIF",
}


def encoded(form: str, colour: tuple[int, int, int] = (200, 40, 60)) -> bytes:
    image, buffer = Image.new("RGB", (64, 48), colour), io.BytesIO()
    if form == "HEIF":
        pillow_heif.from_pillow(image).save(buffer)
    else:
        image.save(buffer, form)
    return buffer.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_every_format_by_its_content(form: str, tmp_path: Path) -> None:
    content = encoded(form)
    assert picture_kind(content[:LONGEST_HEAD]) == FORMS[form]
    (path := tmp_path / "without_ending").write_bytes(content)
    assert ImageFile(path).head() == content[:LONGEST_HEAD]
    image = open_image(path)
    assert (image.mode, image.size) == ("RGB", (64, 48))
    assert np.abs(np.asarray(image, int).mean((0, 1)) - (200, 40, 60)).max() < 12


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"BMW is a make of cars",
        b"PK\x03\x04",
        b"P7 is a gun",
        b"RIFF\0\0\0\0WAVE",
        b"\0\0\0\x20ftypisom" + bytes(20),
        b"%PDF-1.7",
        b"<svg></svg>",
        bytes(64),
    ],
)
def test_what_is_none(content: bytes) -> None:
    assert picture_kind(content) is None


def test_half_a_photo_of_a_phone_is_named(tmp_path: Path) -> None:
    (path := tmp_path / "IMG_1.HEIC").write_bytes(encoded("HEIF")[:200])
    with pytest.raises(ImageError, match=r"IMG_1\.HEIC"):
        open_image(path)
