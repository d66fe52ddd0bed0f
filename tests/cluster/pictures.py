"""Small pictures, different from each other."""

import io

import numpy as np
from PIL import Image


def picture(number: int, *, red: bool = False) -> bytes:
    noise = np.random.default_rng(number).integers(0, 255, (12, 12, 3), dtype=np.uint8)
    if red:
        noise[..., 0] = 255
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG")
    return file.getvalue()
