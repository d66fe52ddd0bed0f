"""What is learned and predicted, before it is features: texts, and images that are opened when they are looked at."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.items.held import Held, HeldImage, Modality, OnError, as_items, as_text, hold
    from anacp.items.item import ArrayImage, EncodedImage, ImageFile, LazyImage, content_hash
    from anacp.items.kinds import LONGEST_HEAD, picture_kind
    from anacp.items.pictures import bad_images, open_image, thumbnail

__all__ = [
    "LONGEST_HEAD",
    "ArrayImage",
    "EncodedImage",
    "Held",
    "HeldImage",
    "ImageFile",
    "LazyImage",
    "Modality",
    "OnError",
    "as_items",
    "as_text",
    "bad_images",
    "content_hash",
    "hold",
    "open_image",
    "picture_kind",
    "thumbnail",
]

__getattr__ = door(__name__)
