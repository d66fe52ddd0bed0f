"""Training and test rows where a data set does not say."""

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from anacp.errors import ParameterError
from anacp.randomness import generator

__all__ = ["split_per_class"]


def split_per_class(
    labels: ArrayLike, *, test_share: float, role: str, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows, both ascending, with that share of each class (rounded) for testing.

    A class of two or more rows has at least one on each side; a single row is for training. What is drawn for a class
    depends on (seed, role, class, its number of rows) and nothing else.
    """
    if not 0 < test_share < 1:
        raise ParameterError(f"Expected `test_share` between 0 and 1, got {test_share!r}.")
    distinct, codes = np.unique(np.asarray(labels), return_inverse=True)
    tested = np.zeros(len(codes), bool)
    for code, label in enumerate(distinct.tolist()):
        rows = np.flatnonzero(codes == code)
        count = min(max(round(test_share * len(rows)), 1), len(rows) - 1)
        order = torch.randperm(len(rows), generator=generator(seed, f"{role}/{label}")).numpy()
        tested[rows[order[:count]]] = True
    return np.flatnonzero(~tested), np.flatnonzero(tested)
