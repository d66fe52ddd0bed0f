"""From any image file to 8-bit RGB, upright."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from anacp.errors import ImageError, UnavailableError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Encoded", "OnDemand", "check_header", "open_image"]


@runtime_checkable
class OnDemand(Protocol):
    """An image that is opened when it is looked at, such as those of `anacp.datasets`."""

    name: str

    def open(self) -> Image:
        """Return the picture."""

    def digest(self) -> str:
        """Return a hash of the content in hexadecimal."""


@runtime_checkable
class Encoded(OnDemand, Protocol):
    """One that is stored as an encoded file somewhere."""

    def read(self) -> bytes:
        """Return the encoded file."""


ImageSource = str | Path | Any  # or a Pillow image, or one on demand; Pillow is not imported to say so


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
        raise _bad(source, problem) from problem


def check_header(source: ImageSource) -> None:
    """Raise ImageError if the file is missing, no image, or too large. Pixels are not decoded: microseconds a file."""
    try:
        _opened(source).close()
    except (ImageError, MemoryError):
        raise
    except Exception as problem:
        raise _bad(source, problem) from problem


def _opened(source: ImageSource) -> Image:
    try:
        from PIL import Image
    except ImportError as problem:
        raise UnavailableError('Reading images needs Pillow: pip install "anacp[images]"') from problem
    if isinstance(source, Image.Image):
        return source.copy()  # the caller's image stays open and unchanged
    image: Image.Image
    if isinstance(source, str | Path):
        image = Image.open(source)
    elif isinstance(source, Encoded):
        image = Image.open(io.BytesIO(source.read()))
    elif isinstance(source, OnDemand):
        image = source.open()
    else:
        raise ImageError(f"Expected a path or a Pillow image, got {type(source).__name__}. Give one of the two.")
    limit = Image.MAX_IMAGE_PIXELS
    if limit is not None and image.width * image.height > limit:
        image.close()
        raise ImageError(
            f"Expected at most {limit:,} pixels, got {image.width} x {image.height}: {_name(source)}. It may be a "
            "decompression bomb; scale it down, or raise PIL.Image.MAX_IMAGE_PIXELS if you trust it."
        )
    return image


def _upright_rgb(image: Image) -> Image:
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
    if pixels.dtype.kind == "f":
        if not np.isfinite(pixels).all():
            raise ValueError("it has pixels that are not finite numbers")
        scaled = pixels * 255 if pixels.max() <= 1 else pixels  # floats come as 0 … 1 or as 0 … 255
    else:
        scaled = pixels / 257.0  # 16 bits; Pillow also opens them as 32-bit integers
    return np.asarray(scaled.clip(0, 255).round(), np.uint8)


def _bad(source: ImageSource, problem: Exception) -> ImageError:
    name = _name(source)
    if isinstance(problem, FileNotFoundError):
        return ImageError(f"Expected an image file, got a path that does not exist: {name}. Check the path.")
    kind = "truncated" if "truncated" in str(problem).lower() else "unreadable"
    return ImageError(
        f"Expected an image, got a file that is {kind} or of another kind: {name} ({problem}). "
        "Remove or replace it, or have bad files skipped."
    )


def _name(source: ImageSource) -> str:
    if isinstance(source, OnDemand):
        return source.name
    return f"a Pillow image of mode {source.mode}" if hasattr(source, "mode") else str(source)
