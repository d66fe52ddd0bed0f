"""Labels as arrays, held as what they are."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Labels = NDArray[Any]

# An array of texts gives every row the room of the longest. Beyond this many characters, texts stay Python objects.
LONGEST_PADDED = 200


def label_kind(labels: Labels) -> str:
    """Return "text", "boolean" or "number": labels of different kinds must not meet in one model."""
    return {"U": "text", "S": "text", "O": "text", "b": "boolean"}.get(labels.dtype.kind, "number")


def label_array(labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array; one long text among thousands costs its own length, not thousands of times that."""
    if isinstance(labels, list | tuple) and any(
        isinstance(label, str) and len(label) > LONGEST_PADDED for label in labels
    ):
        return np.array(labels, dtype=object)
    return np.asarray(labels)
