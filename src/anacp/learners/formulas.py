"""How solutions score rows, for arrays of NumPy and tensors of torch alike: each formula stands here once.

`array` is the module whose functions fit the rows: torch for a learner, NumPy for `SolvedLearner`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

A = TypeVar("A", bound=Any)  # an array or a tensor


def cosine_scores(x: A, means: A, unit_rows: Callable[[A], A]) -> A:
    """Return the cosines (n, c) of rows (n, d) with means (c, d) of length one."""
    scores: A = unit_rows(x) @ means.T
    return scores


def linear_scores(x: A, weights: A, biases: A) -> A:
    """Return x W + b (n, c)."""
    scores: A = x @ weights + biases
    return scores


def feature_scores(x: A, features: Callable[[A], A], weights: A) -> A:
    """Return φ(x) W (n, c)."""
    scores: A = features(x) @ weights
    return scores


def replayed_scores(coefficients: A, readout: A, activate: Callable[[A], A], weights: A) -> A:
    """Return φ(a PV) W (n, c) for the coefficients a (n, c) of adapted features, by the ELM solved on replay."""
    scores: A = activate(coefficients @ readout) @ weights
    return scores


def log_positive_part(scores: A, array: Any, softplus: Callable[[A], A], *, width: float = 0.02) -> A:
    """Return log max(score, 0), smoothed below `width` so that it stays finite and keeps the order of the scores."""
    limits = array.finfo(scores.dtype)
    scaled = array.clip(scores / width, float(limits.min), float(limits.max))
    softened = array.clip(softplus(scaled), 1e-30, float(limits.max))
    logarithms: A = array.where(scaled < -20, scaled, array.log(softened))
    return logarithms
