"""Labels as a model file keeps them: a list and the kind of array it was, taken back only if nothing is lost."""

import math
import re
from typing import Any

import numpy as np

from anacp.files import TensorFile
from anacp.labels import Labels

# Each kind of array that labels can be, and what a header then lists.
_KINDS: dict[str, type] = {"U": str, "O": str, "b": bool, "i": int, "u": int, "f": float}
_DTYPE = re.compile(r"[<>]U[0-9]{1,9}|\|O|\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]")
_PADDING = 16  # how much longer than its texts an array of padded texts may be, once it takes a megabyte


def restored_labels(stated: list[Any], dtype: str) -> Labels:
    """Return the labels that a header lists; ValueError if they are not of that kind, or would be changed by it."""
    if not _DTYPE.fullmatch(dtype):
        raise ValueError("classes_dtype is of no kind that labels have")
    kind = _KINDS[dtype[1]]
    if not stated or any(type(label) is not kind for label in stated):
        raise ValueError(f"classes are not all of the kind {dtype}")
    if kind is float and not all(map(math.isfinite, stated)):
        raise ValueError("classes are not all finite")
    if dtype[1] == "U":
        width, longest, total = int(dtype[2:]), max(map(len, stated)), sum(map(len, stated))
        if longest > width:
            raise ValueError(f"classes_dtype {dtype} would cut a label of {longest:,} characters")
        padded = 4 * width * len(stated)
        dtype = "O" if padded > max(2**20, _PADDING * total) else dtype  # held as what they are, not padded
    try:
        labels = np.array(stated, dtype=np.dtype(dtype))
    except (OverflowError, TypeError, ValueError) as problem:
        raise ValueError(f"classes do not fit {dtype}") from problem
    if labels.ndim != 1 or labels.tolist() != stated:
        raise ValueError(f"classes_dtype {dtype} would change a label")
    if len(set(stated)) < len(stated):
        raise ValueError("a class is listed twice")
    return labels


def sorted_labels(file: TensorFile) -> Labels:
    """Return the classes of a learner's file, whose header was checked; refused if they are not sorted."""
    header = file.header
    try:
        classes = restored_labels(header["classes"], header["classes_dtype"])
    except ValueError as problem:
        raise file.damage(problem) from problem
    if not np.array_equal(np.sort(classes), classes):
        raise file.damage("classes are not sorted")
    names = header["feature_names"]
    if names and (len(names) != header["n_features"] or len(set(names)) < len(names)):
        raise file.damage(f"feature_names are not {header['n_features']} distinct texts")
    return classes
