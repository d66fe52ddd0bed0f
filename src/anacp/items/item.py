"""Images that are opened when looked at: a name, a content hash, and a picture on demand."""

from __future__ import annotations

import hashlib
import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anacp.errors import DataFileError, MissingDataError, UnavailableError
from anacp.extras import require
from anacp.files import MAX_PIXELS, open_regular, read_regular
from anacp.items.kinds import LONGEST_HEAD, picture_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image


def content_hash(*parts: bytes) -> str:
    """Return 128 bits of BLAKE2b in hexadecimal."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def decode(content: bytes, place: str) -> Image:
    """Return the picture in an encoded file, its pixels not yet decoded; one with too many is refused."""
    pillow: Any = require("PIL.Image", extra="images", purpose="Opening an image")
    limit = _pixel_limit(pillow)
    if picture_kind(content[:LONGEST_HEAD]) == "HEIF":
        require("pillow_heif", extra="images", purpose="Opening a HEIC photo").register_heif_opener()
    try:
        image: Image = pillow.open(io.BytesIO(content))
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as problem:
        raise MAX_PIXELS.exceeded("more", f"{place} ({problem})", limit=limit) from problem
    if image.format == "EPS":  # Pillow would have Ghostscript run it
        raise ValueError("PostScript is a program, not a picture")
    if image.width * image.height > limit:
        raise MAX_PIXELS.exceeded(f"{image.width:,} x {image.height:,}", place, limit=limit)
    return image


def _pixel_limit(pillow: Any) -> int:
    """Return how many pixels are decoded: what Pillow allows, or more where somebody has said so."""
    limit, allowed = MAX_PIXELS.value, pillow.MAX_IMAGE_PIXELS
    if allowed is None:
        return limit
    if MAX_PIXELS.is_stated and allowed < limit:
        allowed = pillow.MAX_IMAGE_PIXELS = limit
    return min(limit, int(allowed))


class LazyImage(ABC):
    """A reference to an image. It holds no open file, so it can be copied to other threads and processes."""

    name: str  # stable: relative to the root of its data set, with forward slashes

    @abstractmethod
    def open(self) -> Image:
        """Return the decoded picture, in the mode it was stored in."""

    @abstractmethod
    def digest(self) -> str:
        """Return a hash of the stored content: the same content has the same digest, whatever its name."""

    def place(self) -> str:
        """Return where it is stored, for messages."""
        return self.name

    def __str__(self) -> str:
        return self.place()


class EncodedImage(LazyImage):
    """An image that is stored as an encoded file (JPEG, PNG, …) somewhere."""

    @abstractmethod
    def read(self) -> bytes:
        """Return the encoded file."""

    def head(self) -> bytes:
        """Return how the encoded file begins, so far as it tells its kind."""
        return self.read()[:LONGEST_HEAD]

    def open(self) -> Image:
        """Return the decoded picture, in the mode it was stored in."""
        try:
            image = decode(self.read(), self.place())
            image.load()
        except (MissingDataError, DataFileError, MemoryError, UnavailableError):
            raise
        except Exception as problem:  # foreign bytes can make a decoder fail in any way
            raise DataFileError(
                f"Expected an image, got something that cannot be decoded: {self.place()} ({problem}). "
                "Copy or unpack it again from its source."
            ) from problem
        return image

    def digest(self) -> str:
        """Return a hash of the encoded file."""
        return content_hash(self.read())


@dataclass(frozen=True)
class ImageFile(EncodedImage):
    """An image that is a file of its own."""

    path: Path
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        object.__setattr__(self, "name", self.name or self.path.name)

    def read(self) -> bytes:
        """Return the encoded file."""
        try:
            return read_regular(self.path)
        except FileNotFoundError as problem:
            raise MissingDataError(f"Expected a file at {self.path}, got none. Unpack or copy it again.") from problem

    def head(self) -> bytes:
        """Return how the file begins, without reading the rest."""
        with open_regular(self.path) as file:
            return file.read(LONGEST_HEAD)

    def place(self) -> str:
        """Return the path."""
        return str(self.path)


@dataclass(frozen=True, eq=False)
class ArrayImage(LazyImage):
    """An image whose pixels are in memory already, such as a row of CIFAR's arrays."""

    pixels: NDArray[np.uint8]  # (height, width, 3)
    name: str

    def open(self) -> Image:
        """Return the picture in mode RGB."""
        import numpy as np

        pillow: Any = require("PIL.Image", extra="images", purpose="Opening an image")
        image: Image = pillow.fromarray(np.ascontiguousarray(self.pixels))
        return image

    def digest(self) -> str:
        """Return a hash of shape and pixels."""
        import numpy as np

        return content_hash(repr(self.pixels.shape).encode(), np.ascontiguousarray(self.pixels).tobytes())
