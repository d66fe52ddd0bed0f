"""Metrics of the accuracy matrix A[t, i]: accuracy on task i after learning task t. The future is NaN, never 0."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def last_accuracy(matrix: Matrix) -> float:
    """Return A_last: the unweighted mean over tasks after the last one."""
    return float(matrix[-1].mean())


def average_incremental_accuracy(matrix: Matrix) -> float:
    """Return A_avg: the mean, over steps, of the mean over the tasks seen by then."""
    return float(np.nanmean(matrix, axis=1).mean())


def forgetting(matrix: Matrix) -> float:
    """Return the mean drop of earlier tasks from their best accuracy to their last; 0 for a single task."""
    earlier = matrix[:, :-1]
    return float((np.nanmax(earlier, axis=0) - matrix[-1, :-1]).mean()) if earlier.shape[1] else 0.0


def backward_transfer(matrix: Matrix) -> float:
    """Return the mean change of earlier tasks from when each was learned to the end; 0 for a single task."""
    n_earlier = len(matrix) - 1
    return float((matrix[-1, :n_earlier] - np.diagonal(matrix)[:n_earlier]).mean()) if n_earlier else 0.0
