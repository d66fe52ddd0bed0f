import io

import numpy as np
import pytest
from PIL import Image

from anacp.errors import ImageError
from anacp.items import open_image
from tests.backbones.models import pictures


def pixels(image: Image.Image) -> np.ndarray:
    assert image.mode == "RGB"
    return np.asarray(image).astype(int)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "HSV", "PA", "RGBa", "La", "F"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    plain = pictures(1)[0].convert({"PA": "P", "RGBa": "RGBA", "La": "LA", "F": "L"}.get(mode, mode))
    converted = plain.convert(mode)
    np.testing.assert_allclose(pixels(open_image(converted)), pixels(plain.convert("RGB")), atol=1)
    assert converted.mode == mode  # the caller's image is untouched


def test_transparency_becomes_white(tmp_path) -> None:
    image = Image.new("RGBA", (4, 4), (255, 0, 0, 255))
    image.paste((0, 0, 0, 0), (0, 0, 2, 4))
    image.save(tmp_path / "alpha.png")
    seen = pixels(open_image(tmp_path / "alpha.png"))
    assert (seen[:, :2] == 255).all()
    assert (seen[:, 2:] == [255, 0, 0]).all()
    palette = Image.new("P", (2, 1))
    palette.putpalette([0, 0, 0, 10, 20, 30])
    palette.putpixel((1, 0), 1)
    palette.save(tmp_path / "palette.png", transparency=0)
    assert pixels(open_image(tmp_path / "palette.png")).tolist() == [[[255, 255, 255], [10, 20, 30]]]


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits_keep_their_range(tmp_path, suffix: str) -> None:
    levels = (np.arange(64, dtype=np.uint16) * 1040).reshape(8, 8)
    Image.fromarray(levels).save(tmp_path / f"deep.{suffix}")
    seen = pixels(open_image(tmp_path / f"deep.{suffix}"))
    np.testing.assert_allclose(seen[..., 0], levels / 257, atol=0.51)


def test_rotation_tags_are_followed(tmp_path) -> None:
    upright = Image.new("RGB", (40, 20), "black")
    upright.paste("white", (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn clockwise by 90 degrees to look at it
    upright.save(tmp_path / "turned.jpg", exif=exif)
    seen = open_image(tmp_path / "turned.jpg")
    assert seen.size == (20, 40)
    assert seen.getpixel((10, 5)) == (255, 255, 255)
    assert seen.getpixel((10, 35)) == (0, 0, 0)


def test_bad_files_are_named(tmp_path) -> None:
    whole = io.BytesIO()
    pictures(1)[0].save(whole, "JPEG")
    (tmp_path / "half.jpg").write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    (tmp_path / "text.png").write_text("not an image")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "dir.png").mkdir()
    bad = {"half.jpg": "is truncated", "text.png": "another kind", "empty.png": "another kind", "none.png": "not exist"}
    for name, reason in (bad | {"dir.png": "got a folder"}).items():
        with pytest.raises(ImageError, match=f"{reason}.*{name}"):
            open_image(tmp_path / name)
    with pytest.raises(ImageError, match="got int"):
        open_image(7)
    with pytest.raises(ImageError, match="0 x 5"):
        open_image(Image.new("RGB", (0, 5)))


@pytest.mark.parametrize("limit", [300, 150])  # Pillow warns above its limit and refuses above twice that
def test_decompression_bombs_are_refused(tmp_path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    Image.new("L", (20, 20)).save(tmp_path / "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with pytest.raises(ImageError, match=r"bomb"):
        open_image(tmp_path / "bomb.png")
