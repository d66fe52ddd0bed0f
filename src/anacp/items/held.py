"""An item that was read once: what it is by its content, and what a network is given of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from anacp.errors import AnacpError, ImageError, InputError
from anacp.items.item import EncodedImage, ImageFile, LazyImage, content_hash
from anacp.items.pictures import bad_image

Modality = Literal["image", "text"]
OnError = Literal["refuse", "skip"]  # what to do with an item that cannot be read
ORIENTATION, UPRIGHT = 0x0112, 1  # a rotation tag, and what it says of a picture that needs no turning


@dataclass(frozen=True)
class Held:
    """An item in memory."""

    digest: bytes  # 16 of its content: of a text, of an encoded file wherever it lies, of an image's pixels
    source: Any  # a text, or what `open_image` takes; of a file its bytes


@dataclass(frozen=True, eq=False)
class HeldImage(EncodedImage):
    """The bytes of an image file."""

    name: str
    content: bytes

    def read(self) -> bytes:
        """Return the encoded file."""
        return self.content


def as_items(inputs: Any) -> list[Any]:
    """Return the inputs as a list; a single one is refused."""
    if isinstance(inputs, str | Path) or not hasattr(inputs, "__len__"):
        raise InputError("Expected a list of inputs, got a single one. Put it into a list.")
    return list(inputs)


def as_text(item: Any, position: int = 0) -> str:
    """Return a text, or refuse what is none."""
    if not isinstance(item, str):
        raise InputError(
            f"Expected texts, got {type(item).__name__} at position {position}. "
            "Convert it to a string; paths and images need an image backbone."
        )
    return item


def hold(item: Any, modality: Modality, position: int = 0) -> Held:
    """Read an item, once for its digest and for the network alike.

    Raises
    ------
    ImageError
        If a file cannot be read; the message names it.
    InputError
        If it is no text where texts are expected.
    """
    if modality == "text":
        text = as_text(item, position)
        return Held(bytes.fromhex(content_hash(text.encode(errors="surrogatepass"))), text)
    file = ImageFile(Path(item)) if isinstance(item, str | Path) else item
    try:
        if isinstance(file, EncodedImage):
            file = HeldImage(file.place(), file.read())
        digest = file.digest() if isinstance(file, LazyImage) else _pixels_hash(file)
        return Held(bytes.fromhex(digest), file)
    except ImageError:
        raise
    except (OSError, AnacpError, SyntaxError, ValueError) as problem:  # Pillow's decoders raise any of these
        raise bad_image(item, problem) from problem


def _pixels_hash(image: Any) -> str:
    if not hasattr(image, "getpalette"):
        raise ImageError(f"Expected a path or a Pillow image, got {type(image).__name__}. Give one of the two.")
    seen = f"{image.mode} {image.size} {image.getpalette()}"
    turned = image.getexif().get(ORIENTATION, UPRIGHT)
    if "transparency" in image.info or turned != UPRIGHT:  # `open_image` looks at these too
        seen += f" {image.info.get('transparency')} {turned}"
    return content_hash(seen.encode(), image.tobytes())
