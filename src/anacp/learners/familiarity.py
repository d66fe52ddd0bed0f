"""How familiar a row is to a model, by NumPy alone: what tells *none of these* from the classes that were learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from anacp.errors import InputError, ParameterError
from anacp.labels import Labels, label_kind

Array = NDArray[Any]
Outline = tuple[tuple[int, ...], str]  # a shape and a precision
By = Literal["both", "score", "distance"]
BY: tuple[By, ...] = ("score", "distance", "both")  # in the order of the levels
KEEP = 0.95
# Quantiles of each measure that are kept, evenly spaced from the least to the largest.
N_LEVELS = 201
# Classes whose distances are measured at a time, where there are more of them than features.
CLASSES_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Familiarity:
    """What measures rows, and how pseudo-features as hard as real examples come out by each measure.

    The score is the largest of the learner's. The distance is the relative Mahalanobis distance (Ren et al. 2021): that
    to the pooled background Gaussian less that to the nearest class. With a_c = (x - m)ᵀΛ(μ_c - m) it is
    max_c (2a_c - a_c(μ_c)) - ‖aᵀK‖², because the two Gaussians differ by the scatter of c means (Woodbury): c numbers a
    row, and no matrix of d². Of more classes than features, ‖(x - m)ᵀL‖² is the same with no matrix of c². Both are in
    units of how far their median lies above their 5 % quantile, and are added.
    """

    weights: Array  # Λ(μ_c - m) (d, c), of rows divided by `scale`
    offsets: Array  # (2, c): mᵀΛ(μ_c - m), and (μ_c - m)ᵀΛ(μ_c - m)
    background: Array  # K (c, c), or L and below it -mᵀL (d + 1, d)
    scale: Array  # (1,), the root of the mean squared length of rows
    levels: Array  # (3, N_LEVELS), of score, distance and both

    @staticmethod
    def outline(n_features: int, n_classes: int, dtype: str, *, found: tuple[int, ...] = ()) -> dict[str, Outline]:
        """Return shape and precision of each part, as a file must have them.

        Files of earlier versions have a square background whatever the sizes, which may be as `found` in them.
        """
        square = (n_classes, n_classes)
        background = square if n_classes <= n_features or found == square else (n_features + 1, n_features)
        return {
            "weights": ((n_features, n_classes), dtype),
            "offsets": ((2, n_classes), "float64"),
            "background": (background, dtype),
            "scale": ((1,), "float64"),
            "levels": ((len(BY), N_LEVELS), "float64"),
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], outline: Mapping[str, Outline]) -> Self:
        """Return what a file kept, or raise a `ValueError` if it cannot be that."""
        if {name: (one.shape, str(one.dtype)) for name, one in arrays.items()} != dict(outline):
            raise ValueError("what measures familiarity is not of the model's sizes")
        if float(arrays["scale"][0]) <= 0 or (np.diff(arrays["levels"], axis=1) < 0).any():
            raise ValueError("levels of familiarity must ascend, and be of a positive scale")
        return cls(**arrays)

    def arrays(self) -> dict[str, Array]:
        """Return what a file keeps, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def distances(self, rows: Array) -> Array:
        """Return the relative Mahalanobis distance (n,) of prepared rows (n, d); large is familiar."""
        near = rows.astype(np.float64) / self.scale
        square = self.background.shape[0] == self.background.shape[1]
        at_once = self.weights.shape[1] if square else CLASSES_AT_ONCE
        nearest = np.full(len(rows), -np.inf)
        for start in range(0, self.weights.shape[1], at_once):
            classes = slice(start, start + at_once)
            a = near @ self.weights[:, classes].astype(np.float64) - self.offsets[0, classes]
            nearest = np.maximum(nearest, (2 * a - self.offsets[1, classes]).max(1))
        of_background = a @ self.background if square else near @ self.background[:-1] + self.background[-1]
        return np.asarray(nearest - np.square(of_background).sum(1))

    def measured(self, rows: Array, scores: Array, by: By) -> Array:
        """Return one measure (n,) of prepared rows (n, d) and their scores (n, c)."""
        largest = np.asarray(scores.max(1), np.float64)
        if by == "score":
            return largest
        distances = self.distances(rows)
        return distances if by == "distance" else self._added(largest, distances)

    def above(self, rows: Array, scores: Array, *, keep: float, by: By) -> Array:
        """Return how far each row (n,) lies above the threshold for a share of known examples kept."""
        levels = self.levels[BY.index(by)]
        threshold = np.interp(1 - keep, np.linspace(0, 1, len(levels)), levels)
        return np.asarray(self.measured(rows, scores, by) - threshold)

    def _added(self, largest: Array, distances: Array) -> Array:
        return in_units(largest, self.levels[0]) + in_units(distances, self.levels[1])


def in_units(measured: Array, levels: Array) -> Array:
    """Return a measure in units of how far its median lies above its 5 % quantile; zeros where there is no unit."""
    middle, low = np.interp([0.5, 0.05], np.linspace(0, 1, len(levels)), levels)
    # Less than the last digits of the measure is rounding, of which nothing may be made.
    varies = middle - low > 1e-6 * abs(middle)
    return np.asarray((measured - middle) / (middle - low) if varies else np.zeros(len(measured)))


def check_share(keep: float, by: str) -> None:
    """Refuse what is no share of examples to keep, or no measure."""
    if isinstance(keep, bool) or not isinstance(keep, int | float | np.floating) or not 0 < keep < 1:
        raise ParameterError(
            f"Expected keep, the share of known examples that are recognised, between 0 and 1, got {keep!r}. "
            f"The usual one is {KEEP}."
        )
    if by not in BY:
        raise ParameterError(f"Expected by to be one of {', '.join(map(repr, BY))}, got {by!r}.")


def check_unknown(unknown: object, classes: Labels) -> None:
    """Refuse a label for *none of these* that is of another kind than the classes, or one of them."""
    kind = label_kind(classes)
    types: dict[str, Any] = {"text": str, "number": int | float | np.number}
    if kind == "boolean" or isinstance(unknown, bool) or not isinstance(unknown, types[kind]):
        raise InputError(
            f"Expected unknown to be a label of the kind that was learned ({kind}), got {unknown!r}. Give another, or "
            "ask `familiarity`, which is negative for what is none of these."
        )
    if unknown in classes.tolist():
        raise InputError(f"Expected unknown to be no class that was learned, got {unknown!r}. Give another label.")


def or_unknown(labels: Labels, above: Array, unknown: object) -> Labels:
    """Return the labels (n,) with `unknown` where a row lies below the threshold."""
    return np.where(above >= 0, labels, np.asarray(unknown, object if labels.dtype == object else None))
