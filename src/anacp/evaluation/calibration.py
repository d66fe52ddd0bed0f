"""Whether confidence means something."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def expected_calibration_error(confidence: NDArray[Any], correct: NDArray[Any], *, n_bins: int = 15) -> float:
    """Return the mean gap between confidence and accuracy over equal-width bins, weighted by their size."""
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, weights=correct - confidence, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(confidence))
