import io

import numpy as np
import pytest
from PIL import Image

from anacp.backbones import ImagePreprocessing, check_header, open_image
from anacp.backbones.presets import IMAGENET_MEAN, IMAGENET_STD
from anacp.errors import ImageError
from tests.backbones.models import pictures


def pixels(image: Image.Image) -> np.ndarray:
    assert image.mode == "RGB"
    return np.asarray(image).astype(int)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "HSV", "PA", "RGBa", "La", "F"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    picture = pictures(1)[0]
    via = {"PA": "P", "RGBa": "RGBA", "La": "LA"}.get(mode, mode)
    converted = picture.convert(via).convert(mode)
    coarse = mode in ("1", "P", "PA")
    grey = mode in ("1", "L", "LA", "La", "F")
    expected = pixels(picture.convert("L").convert("RGB")) if grey else pixels(picture)
    error = np.abs(pixels(open_image(converted)) - expected).mean()
    assert error < (130 if mode == "1" else 30 if coarse else 4)
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
    for name, reason in {
        "half.jpg": "truncated",
        "text.png": "another kind",
        "empty.png": "another kind",
        "none.png": "does not exist",
    }.items():
        with pytest.raises(ImageError, match=f"{reason}.*{name}" if name == "none.png" else name) as caught:
            open_image(tmp_path / name)
        assert reason in str(caught.value)
        if name != "half.jpg":  # a header does not show what is missing after it
            with pytest.raises(ImageError, match=name):
                check_header(tmp_path / name)
    check_header(tmp_path / "half.jpg")
    with pytest.raises(ImageError, match="got int"):
        open_image(7)
    with pytest.raises(ImageError, match="0 x 5"):
        open_image(Image.new("RGB", (0, 5)))


@pytest.mark.parametrize("limit", [300, 150])  # Pillow warns above its limit and refuses above twice that
def test_decompression_bombs_are_refused(tmp_path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    Image.new("L", (20, 20)).save(tmp_path / "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    for read in (open_image, check_header):
        with pytest.raises(ImageError, match=r"bomb"):
            read(tmp_path / "bomb.png")


def test_preprocessing_agrees_with_transformers() -> None:
    from transformers import BitImageProcessorPil, ViTImageProcessorPil

    normalise = {"image_mean": list(IMAGENET_MEAN), "image_std": list(IMAGENET_STD)}
    centre = BitImageProcessorPil(
        size={"shortest_edge": 256}, crop_size={"height": 224, "width": 224}, resample=3, **normalise
    )
    square = ViTImageProcessorPil(size={"height": 224, "width": 224}, resample=3, **normalise)
    for keep_aspect, resize, processor in ((True, 256, centre), (False, 224, square)):
        ours = ImagePreprocessing(resize, keep_aspect, 224, IMAGENET_MEAN, IMAGENET_STD)
        for image in (*pictures(4), Image.new("RGB", (1, 1), "red"), pictures(1)[0].resize((500, 300))):
            expected = processor(images=image, return_tensors="np")["pixel_values"][0]
            np.testing.assert_allclose(ours(image), expected, atol=1e-5)


def test_long_strips_stay_cheap() -> None:
    ours = ImagePreprocessing(256, True, 224, IMAGENET_MEAN, IMAGENET_STD)
    strip = Image.new("RGB", (1, 60_000), "red")
    np.testing.assert_allclose(ours(strip), ours(Image.new("RGB", (9, 9), "red")), atol=1e-6)
