"""From any image file to 8-bit RGB, upright."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anacp.errors import DataFileError, ImageError
from anacp.extras import require
from anacp.items.item import EncodedImage, ImageFile, LazyImage, decode
from anacp.words import LONGEST_PLACE, SKIPPING, listed

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

MOST_NAMED = 20  # bad files in one message
ImageSource = str | Path | Any  # or a Pillow image, or a LazyImage; Pillow is not imported to say so


def open_image(source: ImageSource) -> Image:
    """Return an image as upright 8-bit RGB, whatever its size, mode or rotation tag; transparency becomes white.

    Raises
    ------
    ImageError
        If the file is missing, truncated, not an image, or so large that it may be a decompression bomb.
    """
    try:
        with _opened(source) as image:
            return _upright_rgb(image)
    except (ImageError, MemoryError):
        raise
    except Exception as problem:  # foreign bytes can make a decoder fail in any way; all of them mean a bad file
        raise bad_image(source, problem) from problem


def thumbnail(source: ImageSource, side: int = 192) -> bytes:
    """Return an image as a small JPEG file, its longer side of so many pixels at most."""
    picture, file = open_image(source), io.BytesIO()
    picture.thumbnail((side, side))
    picture.save(file, "JPEG", quality=80)
    return file.getvalue()


def _opened(source: ImageSource) -> Image:
    pillow: Any = require("PIL.Image", extra="images", purpose="Reading images")
    if isinstance(source, pillow.Image):
        own: Image = source.copy()  # the caller's image stays open and unchanged
        return own
    if isinstance(source, str | Path):
        source = ImageFile(Path(source))
    if isinstance(source, EncodedImage):
        return decode(source.read(), source.place())
    if isinstance(source, LazyImage):
        return source.open()
    raise ImageError(f"Expected a path or a Pillow image, got {type(source).__name__}. Give one of the two.")


def _upright_rgb(image: Image) -> Image:
    import numpy as np
    from PIL import Image, ImageOps

    image.load()
    if not (image.width and image.height):
        raise ValueError(f"it has {image.width} x {image.height} pixels")
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith(("I", "F")):
        return Image.fromarray(_eight_bits(np.asarray(image))).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        # Premultiplied modes convert only to their own plain form.
        plain = {"RGBa": "RGBA", "La": "LA"}.get(image.mode, image.mode)
        with_alpha = image.convert(plain).convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), with_alpha).convert("RGB")
    return image.convert("RGB")


def _eight_bits(pixels: np.ndarray) -> np.ndarray:
    """Scale by the type's range, never by the image's own: a dark picture stays dark. Pillow would clip at 255."""
    import numpy as np

    if pixels.dtype.kind == "f":
        if not np.isfinite(pixels).all():
            raise ValueError("it has pixels that are not finite numbers")
        scaled = pixels * 255 if pixels.max() <= 1 else pixels  # floats come as 0 … 1 or as 0 … 255
    else:
        scaled = pixels / 257.0  # 16 bits; Pillow also opens them as 32-bit integers
    return np.asarray(scaled.clip(0, 255).round(), np.uint8)


def bad_image(source: ImageSource, problem: Exception) -> ImageError:
    """Return the error for something that is no image, or cannot be read."""
    name = _name(source)
    if isinstance(problem, FileNotFoundError):
        return ImageError(f"Expected an image file, got a path that does not exist: {name}. Check the path.", name)
    if isinstance(problem, DataFileError):  # says all there is to say
        return ImageError(str(problem), name)
    # Pillow names the place in memory of what it cannot tell, which says nothing to anybody.
    said = "" if "cannot identify image file" in str(problem) else f" ({problem})"
    kind = "truncated" if "truncated" in str(problem).lower() else "unreadable"
    return ImageError(
        f"Expected an image, got a file that is {kind} or of another kind: {name}{said}. "
        f"Remove or replace it, or leave it out: {SKIPPING}.",
        name,
    )


def bad_images(problems: Sequence[ImageError]) -> ImageError:
    """Return one error for some images that cannot be read."""
    if len(problems) == 1:
        return problems[0]
    named = [problem.place or str(problem) for problem in problems]
    return ImageError(
        f"Expected images, got {len(problems):,} files that cannot be read: "
        f"{listed(named, MOST_NAMED, show=str, longest=LONGEST_PLACE)}. Remove or replace them, or leave them out: "
        f"{SKIPPING}."
    )


def _name(source: ImageSource) -> str:
    return f"a Pillow image of mode {source.mode}" if hasattr(source, "mode") else str(source)
