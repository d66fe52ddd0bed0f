"""Preprocessing as a record: what is done to pixels or texts before the network, in full and comparable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

# Only the centre of a long image survives the crop: resizing the rest could cost gigabytes for a 1 x 60000 strip.
LONGEST_ASPECT = 4


@dataclass(frozen=True)
class ImagePreprocessing:
    """Resize, crop the centre, then normalise each channel: (pixel / 255 - mean) / std."""

    resize: int
    keep_aspect: bool  # True: the shorter side becomes `resize`; False: both sides do
    crop: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    resample: Literal["bicubic", "bilinear"] = "bicubic"

    def __call__(self, image: Image) -> NDArray[np.float32]:
        """Return the pixels of an RGB image as the network wants them."""  # (3, crop, crop)
        import numpy as np
        from PIL import Image

        if self.keep_aspect:
            image = _centre(image, *(min(side, LONGEST_ASPECT * min(image.size)) for side in image.size))
            shorter = min(image.size)
            size = (image.width * self.resize // shorter, image.height * self.resize // shorter)
        else:
            size = (self.resize, self.resize)
        image = image.resize(size, Image.Resampling[self.resample.upper()])
        pixels = np.asarray(_centre(image, self.crop, self.crop), np.float32)  # (crop, crop, 3)
        mean, std = np.array(self.mean), np.array(self.std)
        normalised = pixels * (1 / (255 * std)).astype(np.float32) - (mean / std).astype(np.float32)
        return np.ascontiguousarray(normalised.transpose(2, 0, 1))


@dataclass(frozen=True)
class OwnImageProcessor:
    """The image processor that comes with a transformers model; `settings` is its configuration as JSON."""

    settings: str


@dataclass(frozen=True)
class TextPreprocessing:
    """The model's own tokenizer, cut to a number of tokens."""

    max_tokens: int


Preprocessing = ImagePreprocessing | OwnImageProcessor | TextPreprocessing


def _centre(image: Image, width: int, height: int) -> Image:
    if image.size == (width, height):
        return image
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))
