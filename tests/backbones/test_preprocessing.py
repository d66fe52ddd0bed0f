import numpy as np
from PIL import Image

from anacp.backbones import ImagePreprocessing
from anacp.backbones.presets import IMAGENET_MEAN, IMAGENET_STD
from tests.backbones.models import pictures


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
