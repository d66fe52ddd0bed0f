"""What comes in from outside: features and labels, checked before anything changes."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from torch import Tensor

from anacp.errors import InputError
from anacp.labels import Labels, label_array, label_kind


def check_features(estimator: BaseEstimator, x: ArrayLike | Tensor, dtype: str) -> NDArray[Any]:
    """Return x as a finite (n, d) array of the width learned before."""
    try:
        return np.asarray(validate_data(estimator, _array(x), reset=False, dtype=dtype, order="C"))
    except ValueError as problem:
        raise InputError(str(problem)) from problem


def check_examples(
    estimator: BaseEstimator, x: ArrayLike | Tensor, y: ArrayLike | Tensor, dtype: str, *, first: bool
) -> tuple[NDArray[Any], Labels]:
    """Return features (n, d) and labels (n,) of a kind that classes can be made of.

    With `first`, the width (and column names, if any) are noted on the estimator.
    """
    if isinstance(y, list | tuple) and len({_kind_of_type(type(label)) for label in y}) > 1:
        raise InputError(
            "Expected labels of one kind, got a mixture of numbers, text or booleans. Convert them to one kind first."
        )
    try:
        features, labels = validate_data(
            estimator, _array(x), None if y is None else label_array(_array(y)), reset=first, dtype=dtype, order="C"
        )
        check_classification_targets(labels)
    except ValueError as problem:
        raise InputError(str(problem)) from problem
    return np.asarray(features), np.asarray(labels)


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
