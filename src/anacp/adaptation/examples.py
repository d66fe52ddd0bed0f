"""What a training is given: labelled items, checked, known by their content, and read in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.adaptation.loop import Piece
from anacp.backbones import Backbone, digests, read_ahead
from anacp.errors import InputError
from anacp.items import content_hash
from anacp.labels import label_array

PIECE = 16  # large enough for full speed, small enough for texts of like length


def check_task(items: Sequence[Any], labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, at least two, and the place of each label among them."""
    flat = label_array(labels)
    if flat.shape != (len(items),):
        raise InputError(f"Expected one label for each of the {len(items)} items, got shape {flat.shape}.")
    classes, codes = np.unique(flat, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"Expected at least two classes to tell apart, got {len(classes)}. "
            "Begin with a task of several classes, or use the backbone without adaptation."
        )
    return classes, codes.astype(np.int64)


def data_identity(backbone: Backbone, items: Sequence[Any], labels: NDArray[Any]) -> str:
    """Return a hash of items and labels, in their order; an item is what it contains, wherever it lies."""
    pairs = zip(digests(items, backbone.modality), labels.tolist(), strict=True)
    return content_hash(*(digest + repr(label).encode() + b"\0" for digest, label in pairs))


def read_pieces(backbone: Backbone, items: Sequence[Any], batches: list[list[int]]) -> Iterator[list[Piece]]:
    """Read batches of rows ahead of their use, each as pieces of bounded size.

    Texts of like length need little padding, a few images little memory.
    """
    return read_ahead(lambda rows: _pieces(backbone, items, rows), batches, workers=backbone.reader.workers)


def _pieces(backbone: Backbone, items: Sequence[Any], rows: list[int]) -> list[Piece]:
    ordered = [rows[place] for place in backbone.reader.order([items[row] for row in rows])]
    pieces = (ordered[start : start + PIECE] for start in range(0, len(ordered), PIECE))
    return [(piece, backbone.reader.read([items[row] for row in piece])) for piece in pieces]
