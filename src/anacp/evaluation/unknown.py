"""How well what was never learned is told from what was."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def auroc(known: NDArray[Any], unknown: NDArray[Any]) -> float:
    """Return how likely a known example is more familiar than an unknown one; ties count half.

    It is the area under the receiver operating characteristic, by the ranks of all examples, exactly.
    """
    _, place, counts = np.unique(np.concatenate([known, unknown]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place[: len(known)]]
    n = len(known)
    return float((ranks.sum() - n * (n + 1) / 2) / (n * len(unknown)))


def false_positive_rate(known: NDArray[Any], unknown: NDArray[Any], *, kept: float = 0.95) -> float:
    """Return the share of unknown examples taken for known by the threshold that keeps this share of known ones."""
    ordered = np.sort(known)
    most_lost = int(np.floor((1 - kept) * len(ordered) + 1e-9))  # 0.05 · 20 is one, whatever its last digit
    return float((unknown >= ordered[most_lost]).mean())


def accuracy_with_rejection(correct: NDArray[Any], known: NDArray[Any], unknown: NDArray[Any]) -> float:
    """Return the share of all examples answered rightly: known ones kept and named, unknown ones rejected.

    Parameters
    ----------
    correct : array of shape (n,)
        Whether each known example has its right label.
    known, unknown : arrays of shape (n,) and (m,)
        How far above the threshold each example lies.
    """
    right = int((np.asarray(correct, bool) & (known >= 0)).sum()) + int((unknown < 0).sum())
    return right / (len(known) + len(unknown))
