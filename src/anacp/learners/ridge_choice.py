"""Which λ: fixed, or chosen from a grid by an error that the statistics can tell."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

import torch
from torch import Tensor

from anacp.errors import RidgeEdgeWarning
from anacp.learners.constraints import Constraint, is_number
from anacp.linalg import Triangle, column_blocks, largest_eigenvalue, solve_psd
from anacp.statistics import ClassGram, ClassRows, Features, Statistic, nothing, row_blocks

RidgeCriterion = Literal["gcv", "squared error", "accuracy"]
RidgeChoice = float | RidgeCriterion
Weights = Callable[[slice], Tensor]  # of some of the classes (m, k)

# RanPAC's grid.
RIDGES = tuple(10.0**exponent for exponent in range(-8, 9))
# A ridge below this many units of rounding of the largest eigenvalue would amplify rounding error.
ROUNDING = 100
# Generalised cross-validation has a false minimum where the effective degrees of freedom approach the number of rows.
LARGEST_SHARE_OF_FREEDOM = 0.9
# A larger λ trades variance for bias: once the error has grown over two decades in a row, each time by more than
# rounding, a still larger one does not win it back.
RISE = 1.01
# Up to this many rows a feature, factoring the low rank first costs least.
SHARE_OF_LOW_RANK = 0.5


def _is_ridge(value: object) -> bool:
    if isinstance(value, str):
        return chooses_ridge(value)
    return is_number(value) and 0 < cast(float, value) < float("inf")


def chooses_ridge(value: object) -> bool:
    """Say whether a parameter is a criterion by which λ is chosen."""
    return isinstance(value, str) and value in get_args(RidgeCriterion)


def _holds_out(value: object) -> bool:
    """Say whether a choice of λ keeps some examples out of the fit, and so needs statistics of its own."""
    return value in ("squared error", "accuracy")


# λ enters when solving, but a criterion that holds examples out must hold them out while they are learned.
RIDGE_RANGE = Constraint(
    "a positive number, 'gcv', 'squared error' or 'accuracy'",
    _is_ridge,
    lambda before, now: not (_holds_out(before) or _holds_out(now)),
)


def ridge_statistics(
    name: str, n_features: int, features: Features, ridge: RidgeChoice, *, device: str, dtype: torch.dtype
) -> dict[str, Statistic]:
    """Return the empty statistics that `solve_ridge` needs: a Gram matrix, and what is held out."""
    if not _holds_out(ridge):
        return {name: ClassGram(features, device=device, dtype=dtype)}
    fitted = ClassGram(features, fold="fitted", device=device, dtype=dtype)
    held: Statistic
    if ridge == "squared error":
        held = ClassGram(features, fold="held out", device=device, dtype=dtype)
    else:
        held = ClassRows(n_features, fold="held out", device=device, dtype=dtype)
    return {name: fitted, f"{name} held out": held}


def check_ridge(statistics: Mapping[str, Statistic], name: str, ridge: RidgeChoice) -> None:
    """Refuse what unlearning would leave, where its error is no longer small beside a λ that is given."""
    if not isinstance(ridge, str):
        cast(ClassGram, statistics[name]).check_ridge(ridge)


def solve_ridge(
    statistics: Mapping[str, Statistic], name: str, ridge: RidgeChoice, *, targets: Tensor | None = None
) -> tuple[Tensor, float]:
    """Return B = (G + λI)⁻¹ MN (m, c) of all examples, or B P for targets P, and the λ that was given or chosen."""
    gram = cast(ClassGram, statistics[name])
    if not isinstance(ridge, str):
        return gram.solve(ridge=ridge, targets=targets), float(ridge)
    if not _holds_out(ridge):
        ridge = _choose_by_cross_validation(gram)
        return gram.solve(ridge=ridge, targets=targets), ridge
    held = statistics[f"{name} held out"]
    whole = gram + (held if isinstance(held, ClassGram) else _gram_of(cast(ClassRows, held), gram))
    if not gram.n or gram.n == whole.n:  # too few rows to hold any out
        ridge = _choose_by_cross_validation(whole)
    else:
        fits = _LowRank.of(gram) if gram.n <= SHARE_OF_LOW_RANK * gram.size else _Dense(gram.apart())
        judge = _squared_error(held) if isinstance(held, ClassGram) else _mistakes(cast(ClassRows, held), gram)
        smooth = ridge == "squared error"
        ridge = _best(fits.ridges, lambda ridge: judge(fits.weights(ridge)), until_it_rises=smooth)
        del fits  # with its factor
    return whole.solve(ridge=ridge, targets=targets), ridge


def _above_rounding(largest: float, dtype: torch.dtype) -> list[float]:
    """Return the grid above the rounding error of a Gram matrix: a smaller λ would only amplify that."""
    smallest = ROUNDING * torch.finfo(dtype).eps * largest
    return [ridge for ridge in RIDGES if ridge > smallest] or list(RIDGES[-1:])


@dataclass(frozen=True)
class _Dense:
    """W(λ) = (G + λI)⁻¹ MN by a Cholesky factor for each λ.

    An eigendecomposition, whose work is bound by memory, costs more than all of these.
    """

    gram: ClassGram

    @property
    def ridges(self) -> list[float]:
        """The grid above rounding error."""
        return _above_rounding(largest_eigenvalue(self.gram.gram), self.gram.dtype)

    def weights(self, ridge: float) -> Weights:
        """Return what gives W(λ) (m, k) for some of the classes."""
        return self.gram.solving(ridge=ridge)


@dataclass(frozen=True)
class _LowRank:
    """The same where rows are few: with G = F Fᵀ and MN = F Tᵀ, W(λ) = F (FᵀF + λI)⁻¹ Tᵀ."""

    factor: Tensor  # F (m, r)
    inner: Triangle  # FᵀF (r, r)
    sums: Tensor  # Tᵀ (r, c)

    @classmethod
    def of(cls, gram: ClassGram) -> "_LowRank":
        factor, sums = gram.low_rank()
        return cls(factor, Triangle.gram(factor), sums.mT.contiguous())

    @property
    def ridges(self) -> list[float]:
        """The grid above rounding error."""
        return _above_rounding(largest_eigenvalue(self.inner), self.inner.dtype)

    def weights(self, ridge: float) -> Weights:
        """Return what gives W(λ) (m, k) for some of the classes."""
        solved = solve_psd(self.inner, self.sums, shift=ridge)
        return lambda classes: self.factor @ solved[:, classes]


def _choose_by_cross_validation(gram: ClassGram) -> float:
    """Return the λ with the least n·‖Y - ZW‖² / (n - degrees of freedom)²."""
    n, (values, power) = gram.n, gram.spectrum()
    ridges = _above_rounding(float(values[-1]) if len(values) else 0.0, values.dtype)
    values = values.double()

    def freedom(ridge: float) -> float:
        return float((values / (values + ridge)).sum())

    def error(ridge: float) -> float:
        explained = power * (2 / (values + ridge) - values / (values + ridge).square())
        left = n - freedom(ridge)
        return n * (n - float(explained.sum())) / left**2 if left > 0 else math.inf

    guarded = [ridge for ridge in ridges if freedom(ridge) <= LARGEST_SHARE_OF_FREEDOM * n]
    return _best(guarded or ridges[-1:], error)


def _squared_error(held: ClassGram) -> Callable[[Weights], float]:
    """Return ‖Y - ZW‖² on the rows held out, which their Gram matrix and class sums tell."""
    sums = held.sums

    def error(weights: Weights) -> float:
        agreement = size = 0.0
        for classes in column_blocks(len(sums)):
            some = weights(classes)
            agreement += float((some * sums[classes].mT).sum(dtype=torch.float64))
            size += float((some * held.times(some)).sum(dtype=torch.float64))
        return held.n - 2 * agreement + size

    return error


def _mistakes(held: ClassRows, gram: ClassGram) -> Callable[[Weights], float]:
    """Return the share of wrong answers on the rows held out."""
    blocks = list(row_blocks(len(held.rows)))

    def error(weights: Weights) -> float:
        own = torch.full_like(held.rows[:, 0], -torch.inf)
        best, largest = own.clone(), 0.0
        for classes in column_blocks(len(gram.counts)):
            some = weights(classes)
            for block in blocks:
                scores, place = gram.features(held.rows[block]) @ some, held.classes[block] - classes.start
                inside = ((place >= 0) & (place < scores.shape[1])).nonzero().squeeze(1)
                own[block.start + inside] = scores[inside, place[inside]]
                best[block] = torch.maximum(best[block], scores.amax(1))
                largest = max(largest, float(scores.abs().max()))
        # A tie is no mistake: otherwise rounding would decide between equal classes, and so choose λ.
        return float((own < best - 1e-4 * largest).double().mean())

    return error


def _gram_of(held: ClassRows, like: ClassGram) -> ClassGram:
    """Return the Gram matrix of stored rows, indexed as another."""
    device = str(like.counts.device)
    gram = ClassGram(like.features, device=device, dtype=like.dtype).at(*nothing(device), len(like.counts))
    return gram.plus(held.rows, held.classes)


def _best(ridges: Sequence[float], error: Callable[[float], float], *, until_it_rises: bool = False) -> float:
    """Return the λ of the least error, the largest of equals; warn when it is at an end of the whole grid.

    The error of a smooth criterion may be followed upwards `until_it_rises` twice in a row.
    """
    errors: list[float] = []
    for ridge in ridges:
        errors.append(error(ridge))
        if until_it_rises and len(errors) > 2 and errors[-1] > RISE * errors[-2] > RISE**2 * errors[-3]:
            break
    best = max(ridge for ridge, value in zip(ridges, errors, strict=False) if value <= min(errors))
    if best in (RIDGES[0], RIDGES[-1]):
        warnings.warn(
            f"The chosen ridge {best:g} is at the edge of its grid, {RIDGES[0]:g} to {RIDGES[-1]:g}: a better one may "
            "lie beyond. Scale the features (such as to length one), learn more examples, or give `ridge` a number.",
            RidgeEdgeWarning,
            stacklevel=2,
        )
    return best
