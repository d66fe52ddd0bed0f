"""What comes in from outside: features and labels, checked before anything changes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from torch import Tensor

from anacp.errors import InputError
from anacp.labels import Labels, label_array, label_kind
from anacp.statistics import row_blocks

Weights = NDArray[np.int64] | NDArray[np.float64]
# Sums of weights stay exact numbers, and their roots within float32.
LARGEST_WEIGHT = 2.0**30


# Rows as they are worked on: an array, or a sparse matrix of which some rows at a time become one.
Rows = Any


def check_features(estimator: BaseEstimator, x: ArrayLike | Tensor, dtype: str) -> Rows:
    """Return x as finite rows (n, d) of the width learned before, sparse if they were."""
    try:
        return validate_data(estimator, _array(x), reset=False, dtype=dtype, order="C", accept_sparse="csr")
    except ValueError as problem:
        raise InputError(str(problem)) from problem


def check_examples(
    estimator: BaseEstimator,
    x: ArrayLike | Tensor,
    y: ArrayLike | Tensor,
    sample_weight: ArrayLike | Tensor | None,
    dtype: str,
    *,
    first: bool,
) -> tuple[Rows, Labels, Weights | None]:
    """Return features (n, d), labels (n,) of a kind that classes can be made of, and weights (n,) if they matter.

    Rows of weight 0 are left out. With `first`, the width (and column names, if any) are noted on the estimator.
    """
    if isinstance(y, list | tuple) and len({_kind_of_type(type(label)) for label in y}) > 1:
        raise InputError(
            "Expected labels of one kind, got a mixture of numbers, text or booleans. Convert them to one kind first."
        )
    try:
        features, labels = validate_data(
            estimator,
            _array(x),
            None if y is None else label_array(_array(y)),
            reset=first,
            dtype=dtype,
            order="C",
            accept_sparse="csr",
        )
        check_classification_targets(labels)
    except ValueError as problem:
        raise InputError(str(problem)) from problem
    labels = np.asarray(labels)
    weights = None if sample_weight is None else _checked_weights(sample_weight, len(labels))
    if weights is None:
        return features, labels, None
    counted = weights > 0
    if not counted.any():
        raise InputError(
            "Expected some sample_weight above zero, got none. A row of weight zero counts as if it were absent."
        )
    if not counted.all():
        features, labels, weights = features[counted], labels[counted], weights[counted]
    return features, labels, None if (weights == 1).all() else weights


def dense(rows: Rows) -> NDArray[Any]:
    """Return rows as an array: those of a sparse matrix become one here, and nowhere else."""
    return np.asarray(rows.toarray() if issparse(rows) else rows)


def row_parts(rows: Rows, n_together: int) -> Iterator[slice]:
    """Cut rows into parts that may be dense: an array is one already."""
    return row_blocks(rows.shape[0], n_together if issparse(rows) else max(rows.shape[0], 1))


def _checked_weights(sample_weight: ArrayLike | Tensor, n_rows: int) -> Weights:
    """Return one number a row, 0 or more: integers if all are whole."""
    try:
        weights = np.asarray(_array(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"Expected numbers as sample_weight, got others: {problem}.") from problem
    weights = np.full(n_rows, weights) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        raise InputError(f"Expected one sample_weight for each of the {n_rows} rows, got shape {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("Expected finite sample_weight of at least 0, got others. Leave out rows that must not count.")
    if weights.max(initial=0) > LARGEST_WEIGHT:
        raise InputError(
            f"Expected sample_weight of at most {LARGEST_WEIGHT:g}, got {weights.max():g}. Scale them down."
        )
    whole = weights.astype(np.int64)
    return whole if (whole == weights).all() else weights


def check_kind(learned: Labels, labels: Labels) -> None:
    """Refuse labels of another kind than those learned before."""
    expected, got = label_kind(learned), label_kind(labels)
    if expected != got:
        raise InputError(
            f"Expected labels of the kind learned before ({expected}), got {got}. Convert them to one kind first."
        )


def _kind_of_type(cls: type) -> str:
    if issubclass(cls, str):
        return "text"
    return "boolean" if issubclass(cls, bool | np.bool_) else "number"


def _array(values: Any) -> Any:
    """Bring a torch tensor to the CPU as an array; anything else is left to scikit-learn's own conversion."""
    if not isinstance(values, Tensor):
        return values
    values = values.detach().cpu()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()
