"""The Gram matrix of features with their class sums: it answers ridge regression onto any per-class target."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import torch
from torch import Tensor

from anacp.errors import NumericalError
from anacp.linalg import (
    Factor,
    Triangle,
    checked,
    factor_psd,
    fresh_weights,
    low_rank_factor,
    solve_psd,
    spectrum_of_factor,
    spectrum_psd,
)
from anacp.randomness import random_signs, standard_normal
from anacp.statistics.base import Features, Statistic, moved, root_of, summed, tallied
from anacp.statistics.coding_error import CodingError
from anacp.statistics.directions import Directions
from anacp.statistics.folds import Fold, expected_rows, rows_in
from anacp.statistics.rounding import (
    added_error,
    merged_error,
    refuse_overflow,
    refuse_small_ridge,
    refuse_underflow,
    share,
    smallest_energy,
    unit_roundoff,
    widest,
)

# Error in what is inverted with hardly any ridge weighs more than error in a covariance that is shrunk: measured on
# scores, a fifth of it does as much.
WEIGHT = 5
# Rows a feature up to which directions are kept: alone, while they are smaller than a triangle, beside one, while
# correcting its solution costs less than factoring it anew. More of them alone would cost fewer operations than a
# triangle while their factor is only extended, and take longer: ten tasks of CUB 34 s instead of 30.
ALONE, BESIDE = 1 / 2, 1 / 4
# Taking many rows out of directions costs the cube of their number: beyond this share a triangle is made first. So many
# are taken out each by itself, of any number. When fewer rows than the last share are left, a triangle becomes
# directions again.
TAKEN_OUT, EACH, AGAIN = 1 / 8, 4, 1 / 16
# Random vectors by which a norm is estimated: of thousands of numbers each, so that a few tell it within percents.
PROBES = 8
# The least share of the examples that a fit must leave free, to say how far off it is on others.
LEFT_BY_FIT = 1 / 4


@dataclass(frozen=True, eq=False)
class SolvedTriangle:
    """(T + λI)⁻¹ as a factor, and applied to the class sums of T and to the directions beside it."""

    ridge: float
    factor: Factor
    sums: Tensor | None  # (c, m); None as long as nobody asked
    directions: Tensor  # (r, m)


class ClassGram(Statistic):
    """G = ZᵀZ, the class sums MN (Eqs. 3, 7, 9) and counts of the features z = features(x).

    G = T + FᵀF, a triangle T and the directions F of few rows. While there are fewer examples than half the features
    there is no T: what is kept, solved and saved has the rank of the examples. What was solved is kept in memory, and
    the next rows only add to it, until they are so many that a triangle, factored anew, costs less.

    With a `fold`, only the examples that belong to it count.
    """

    added_later: ClassVar[tuple[str, ...]] = ("error",)

    def __init__(
        self,
        features: Features,
        *,
        fold: Fold = "all",
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.features = features
        self.fold: Fold = fold
        self.triangle: Triangle | None = None  # T (m, m)
        self.triangle_sums = torch.zeros(0, features.n_outputs, device=device, dtype=dtype)  # of the rows in T (c, m)
        self.directions = Directions.none(0, self.triangle_sums)
        self.counts = torch.zeros(0, device=device, dtype=torch.int64)  # (c,)
        self.error = torch.zeros((), device=device, dtype=widest(device))  # of the energy, by rounding
        self.coding = CodingError()  # by what files stored in fewer bits
        self._solved: SolvedTriangle | None = None  # in memory only
        self._crowded = False  # whether rows that are being added are too many for directions
        self._entering = False  # whether the triangle is no other statistic's, so that rows may enter it

    @classmethod
    def of_triangle(cls, features: Features, triangle: Triangle, sums: Tensor, counts: Tensor) -> Self:
        """Return the statistic of rows whose Gram matrix and class sums are known."""
        empty = cls(features, device=str(sums.device), dtype=sums.dtype)
        none = Directions.none(len(counts), sums)
        return empty._with(triangle=triangle, triangle_sums=sums, directions=none, counts=counts)

    @classmethod
    def of_directions(cls, features: Features, directions: Directions, counts: Tensor) -> Self:
        """Return the same, of rows whose directions are known."""
        rows = directions.rows
        empty = cls(features, device=str(rows.device), dtype=rows.dtype)
        none = rows.new_zeros(len(counts), rows.shape[1])
        return empty._with(triangle_sums=none, directions=directions, counts=counts)

    @classmethod
    def room(cls, size: int) -> int:
        """Return how many directions of `size` features are kept before a triangle takes their place."""
        return int(ALONE * size)

    @property
    def size(self) -> int:
        """How many features a row has, m."""
        return self.triangle_sums.shape[1]

    @property
    def dtype(self) -> torch.dtype:
        """The precision."""
        return self.triangle_sums.dtype

    @property
    def gram(self) -> Triangle:
        """G (m, m), whole."""
        return self._whole()[0]

    @property
    def sums(self) -> Tensor:
        """The class sums (c, m)."""
        return self.triangle_sums + self.directions.sums if len(self.directions) else self.triangle_sums

    @property
    def energy(self) -> Tensor:
        """The trace of G: Σ‖z‖²."""
        in_triangle = 0 if self.triangle is None else self.triangle.diagonal().sum(dtype=self.error.dtype)
        return self.directions.energy + in_triangle

    @property
    def n(self) -> float:
        """How many examples were seen, each as much as it counts."""
        return cast(float, self.counts.sum().item())

    @property
    def _n_rows(self) -> int | None:
        """How many rows there can be at most; None if some counted less than a row, so that nobody can tell."""
        return None if self.counts.is_floating_point() and self.n else int(self.n)

    def plus(self, x: Tensor, classes: Tensor, *, weights: Tensor | None = None, sign: int = 1) -> Self:
        """Return the statistic with examples (n, d) of the given class indices; `sign=-1` takes them out."""
        crowded = len(self.directions) + len(x) > self._room
        changed = super(ClassGram, self._with(_crowded=crowded)).plus(x, classes, weights=weights, sign=sign)
        return changed._with(coding=self.coding.with_left(self.n, changed.n)) if sign < 0 else changed

    @property
    def _room(self) -> int:
        """How many directions there may be."""
        if self.triangle is None:
            return self.room(self.size)
        return 0 if self._solved is None else int(BESIDE * self.size)

    def _add_block_(self, x: Tensor, classes: Tensor, weights: Tensor | None, sign: int) -> None:
        x, classes, weights = rows_in(self.fold, x, classes, weights)
        z, before = self.features(x), self.energy
        root = root_of(weights, z)
        z = z if root is None else root * z
        self.counts = tallied(self.counts, classes, weights, sign)
        alone, n_kept = self.triangle is None, len(self.directions)
        if sign > 0 and not self._crowded and not self._entering and n_kept + len(z) <= self._room:
            refuse_overflow(4 * torch.linalg.vector_norm(z), z.dtype)
            self.directions = self.directions.plus(z, classes, root, joined=alone)
        elif sign < 0 and alone and (left := self._taken_out(z, classes, root)) is not None:
            self.directions = left
        else:
            self._enter_(z, classes, root, sign)
        self.error = added_error(self.error, self.dtype, before, self.energy)

    def _taken_out(self, z: Tensor, classes: Tensor, root: Tensor | None) -> Directions | None:
        """Return the directions without some rows; None where a triangle costs less."""
        directions, n_left, least = self.directions, self._n_rows, TAKEN_OUT * self.size
        if n_left and len(z) <= EACH:
            left = directions.without_each(z, classes, root, n_left=n_left)
            if left is not None:
                return left
        return directions.without(z, classes, root, n_left=n_left) if len(directions) <= least else None

    def _enter_(self, z: Tensor, classes: Tensor, root: Tensor | None, sign: int) -> None:
        """Add rows to a triangle of one's own, into which all that were directions go first."""
        if not self._entering:
            whole, sums = self._whole()
            self.triangle = whole.copy() if whole is self.triangle else whole
            sums = sums.clone() if sums is self.triangle_sums else sums
            self.triangle_sums, self.directions = sums, Directions.none(len(sums), sums)
            self._solved, self._entering = None, True
        assert self.triangle is not None
        self.triangle.add_gram_(z, sign=sign)
        self.triangle_sums.index_add_(0, classes, z if root is None else root * z, alpha=sign)

    def _whole(self) -> tuple[Triangle, Tensor]:
        """Return G and the class sums of all rows."""
        if self.triangle is not None and not len(self.directions):
            return self.triangle, self.triangle_sums
        device = str(self.triangle_sums.device)
        zeros = Triangle.zeros(self.size, device=device, dtype=self.dtype)
        whole = zeros if self.triangle is None else self.triangle.copy()
        whole.add_gram_(self.directions.rows)
        return whole, self.sums

    def _copied(self) -> Self:
        return self._with(_entering=False)  # the triangle is copied when rows enter it

    def _settle_(self) -> None:
        if not self.n:
            self.triangle, self.error = None, torch.zeros_like(self.error)
            self.directions = Directions.none(len(self.counts), self.triangle_sums)
        elif self.triangle is not None and self._is_of_few_rows() and not self.coding.variance:
            factor, coordinates = low_rank_factor(self.gram, self.sums)
            self.triangle = None
            self.directions = Directions.of(factor.mT, coordinates, at_most=self._n_rows)
        if self.triangle is None:
            self.triangle_sums = torch.zeros_like(self.triangle_sums)
        held = self.counts[:, None] > 0
        coordinates = torch.where(held, self.directions.coordinates, 0.0)
        self.directions = replace(self.directions, coordinates=coordinates)
        self.triangle_sums = torch.where(held, self.triangle_sums, 0.0)

    def _is_of_few_rows(self) -> bool:
        return self._n_rows is not None and self._n_rows <= AGAIN * self.size

    def check_range(self) -> None:
        """Refuse squares that have overflowed or vanished."""
        energy = self.energy
        refuse_overflow(energy.to(self.dtype), self.dtype)
        if bool(energy < smallest_energy(self.dtype)):
            some = self.triangle_sums.any() | self.directions.rows.any()
            refuse_underflow((energy > 0) | some, self.dtype)

    def doubt(self, classes: Tensor) -> float:
        """Return the share of the energy that may be rounding error, as much as it weighs; classes are pooled."""
        return WEIGHT * share(self.error, self.energy)

    # Solving ----------------------------------------------------------------------------------------------------

    def solve(self, *, ridge: float, targets: Tensor | None = None) -> Tensor:
        """Return B = (G + λI)⁻¹ MN (m, c). One-hot targets give B itself, targets P (c, k) give W = B P (Eq. 9).

        Of directions F beside a triangle, with A = T + λI, X = A⁻¹ times the class sums of T, Y the coordinates of the
        other class sums, and U = A⁻¹Fᵀ (Woodbury): B = X + U (I + FU)⁻¹ (Yᵀ - FX). With targets, both kinds of sums are
        multiplied by them first, so that nothing of m·c numbers is made.
        """
        if self.triangle is None:
            self.directions = self.directions.factored(ridge=ridge)  # changes no answer
            return self.directions.solve(ridge=ridge, targets=targets)
        if targets is None:
            solved = self._solved_sums(ridge)
            assert solved.sums is not None
            return self._corrected(solved, solved.sums.mT, self.directions.coordinates.mT)
        solved = self._solved_triangle(ridge)
        of_triangle = checked(solved.factor.solve(self.triangle_sums.mT @ targets), self.size, ridge)
        return self._corrected(solved, of_triangle, self.directions.coordinates.mT @ targets)

    def solving(self, *, ridge: float) -> Callable[[slice], Tensor]:
        """Return what gives the columns of B (m, k) for some of the classes, and keeps nothing of m·c numbers."""
        if self.triangle is None:
            self.directions = self.directions.factored(ridge=ridge)
            return lambda classes: self.directions.at_classes(classes).solve(ridge=ridge)
        solved = self._solved_triangle(ridge)

        def columns(classes: slice) -> Tensor:
            of_triangle = checked(solved.factor.solve(self.triangle_sums[classes].mT), self.size, ridge)
            return self._corrected(solved, of_triangle, self.directions.coordinates[classes].mT)

        return columns

    def held_out_error(self, weights: Tensor, *, ridge: float) -> float | None:
        """Return what B (m, c) is off on examples left out: the mean over them of ‖y - zB‖², y one-hot.

        By generalised cross-validation, (n - tr BᵀMN - λ‖B‖²) / n over (1 - tr (G + λI)⁻¹G / n)². None where the fit
        has taken up so much of few examples that this says nothing.
        """
        if not self.n:
            return None
        fitted = float((weights.mT * self.sums).sum(dtype=self.error.dtype))
        residual = max(self.n - fitted - ridge * float(weights.square().sum(dtype=self.error.dtype)), 0.0)
        left = 1 - self._freedom(ridge) / self.n
        return residual / self.n / left**2 if left >= LEFT_BY_FIT else None

    def _freedom(self, ridge: float) -> float:
        """Return tr (G + λI)⁻¹G, by random signs v: the mean of vᵀ(v - λ(G + λI)⁻¹v)."""
        signs = torch.from_numpy(random_signs(0, "freedom", PROBES * self.size)).to(self.triangle_sums)
        signs = signs.view(self.size, PROBES)
        if self.triangle is None:
            rows = self.directions.rows
            inside = solve_psd(Triangle.gram(rows.mT), rows @ signs, shift=ridge)
            fitted = rows.mT @ inside
        else:
            solved = self._solved_triangle(ridge)
            none = signs.new_zeros(len(self.directions), PROBES)
            fitted = signs - ridge * self._corrected(solved, solved.factor.solve(signs), none)
        return float((signs * fitted).sum(dtype=self.error.dtype)) / PROBES

    def apart(self) -> Self:
        """Return the same statistic, which keeps what it solves to itself."""
        return self._with(_solved=None)

    def _corrected(self, solved: SolvedTriangle, of_triangle: Tensor, of_directions: Tensor) -> Tensor:
        """Return X + U (I + FU)⁻¹ (Yᵀ - FX), given X (m, k) and Yᵀ (r, k)."""
        rows = self.directions.rows
        if not len(rows):
            return of_triangle
        inner = Triangle((rows @ solved.directions.mT,))  # positive: of F(T + λI)⁻¹Fᵀ
        correction = solve_psd(inner, of_directions - rows @ of_triangle, shift=1.0)
        whole = fresh_weights(of_triangle, *of_triangle.shape)
        torch.addmm(of_triangle, solved.directions.mT, correction, out=whole)
        return checked(whole, self.size, solved.ridge)

    def _solved_sums(self, ridge: float) -> SolvedTriangle:
        """Return the same with the class sums of T, which share their memory with the weights that they are."""
        solved = self._solved_triangle(ridge)
        if solved.sums is None:
            sums = checked(solved.factor.solve(self.triangle_sums.mT), self.size, ridge)
            self._solved = solved = replace(solved, sums=sums.mT)
        return solved

    def _solved_triangle(self, ridge: float) -> SolvedTriangle:
        """Return what is solved for T and the directions, by the factor that there is."""
        assert self.triangle is not None
        solved, rows = self._solved, self.directions.rows
        if solved is None or solved.ridge != ridge:
            solved = SolvedTriangle(ridge, self._factored(self.triangle, ridge), None, rows[:0])
        if len(solved.directions) < len(rows):
            latest = solved.factor.solve(rows[len(solved.directions) :].mT.contiguous())
            solved = replace(solved, directions=torch.cat([solved.directions, latest.mT]))
        self._solved = solved  # changes no answer
        return solved

    def _factored(self, triangle: Triangle, ridge: float) -> Factor:
        """Return the factor of T + λI, unless λ is too small for what was coded: it may be smaller than it was then."""
        if not self.coding.variance:
            return factor_psd(triangle, shift=ridge)
        try:
            factor = factor_psd(triangle, shift=ridge)
        except NumericalError:
            replace(self.coding, weakness=math.inf).check(self.size, ridge)
            raise
        replace(self.coding, weakness=_weakness(factor, self.triangle_sums)).check(self.size, ridge)
        return factor

    def weights_and_weakness(self, ridge: float) -> tuple[Tensor, float]:
        """Return Bᵀ (c, m) and ‖(G + λI)⁻¹‖_F, nearly: of T alone where few rows are beside it."""
        solved = self._solved_sums(ridge)
        assert solved.sums is not None
        return solved.sums, _weakness(solved.factor, self.triangle_sums)

    def low_rank(self) -> tuple[Tensor, Tensor]:
        """Return F (m, r) with G = FFᵀ, and T (c, r) with the class sums TFᵀ."""
        if self.triangle is None:
            return self.directions.rows.mT, self.directions.coordinates
        return low_rank_factor(self.gram, self.sums)

    def spectrum(self) -> tuple[Tensor, Tensor]:
        """Return the positive eigenvalues (r,) of G, ascending, and the squared class sums along their vectors (r,)."""
        if self.triangle is not None:
            return spectrum_psd(self.gram, self.sums)
        return spectrum_of_factor(self.directions.rows.mT, self.directions.coordinates)

    def times(self, columns: Tensor) -> Tensor:
        """Return G times columns (m, k)."""
        rows = self.directions.rows
        product = rows.mT @ (rows @ columns)
        return product if self.triangle is None else product + self.triangle.times(columns)

    def check_ridge(self, ridge: float) -> None:
        """Refuse a λ that what unlearning has left would drown, or that files in fewer bits have."""
        self.coding.check(self.size, ridge)
        refuse_small_ridge(self.error, self.energy, self.n, self.size, self.dtype, ridge)

    # Merging, moving and saving ---------------------------------------------------------------------------------

    def __add__(self, other: Self) -> Self:
        counts = self.counts + other.counts
        if (
            self.triangle is None
            and other.triangle is None
            and len(self.directions) + len(other.directions) <= self._room
        ):
            both = self._with(directions=self.directions + other.directions, counts=counts)
        else:
            (mine, my_sums), (theirs, their_sums) = self._whole(), other._whole()
            none = Directions.none(len(counts), my_sums)
            both = self._with(triangle=mine + theirs, triangle_sums=my_sums + their_sums, directions=none)
            both = both._with(counts=counts, _solved=None, _entering=False)
        error = merged_error(self.error, other.error, self.dtype, both.energy)
        return both._with(error=error, coding=self.coding + other.coding)

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; large matrices are shared, not copied."""

        def placed(rows: Tensor) -> Tensor:
            return moved(rows, sources, places, n_classes)

        solved = self._solved
        solved = solved and replace(solved, sums=None if solved.sums is None else placed(solved.sums))
        return self._with(
            triangle_sums=placed(self.triangle_sums),
            directions=self.directions.at(sources, places, n_classes),
            counts=placed(self.counts),
            _solved=solved,
        )

    def joined(self, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class i at places[i]; class sums add, and so does what was solved of them."""
        solved = self._solved
        solved = solved and replace(
            solved, sums=None if solved.sums is None else summed(solved.sums, places, n_classes)
        )
        return self._with(
            triangle_sums=summed(self.triangle_sums, places, n_classes),
            directions=self.directions.joined(places, n_classes),
            counts=summed(self.counts, places, n_classes),
            _solved=solved,
        )

    def outline(self) -> Self:
        """Return what a file keeps of this statistic without its numbers, on device "meta"."""
        return self._shaped(len(self.counts), len(self.directions) if self.triangle is None else None)

    def expected(self, n_classes: int, n_rows: int) -> Self:
        """Return an outline with the sizes that n_rows rows give; if they are not known, those of many."""
        n_rows = expected_rows(self.fold, n_rows)
        return self._shaped(n_classes, n_rows if 0 < n_rows <= self.room(self.size) else None)

    def shaped(self, n_classes: int, sizes: Mapping[str, tuple[int, ...]]) -> Self:
        """Return an outline with the sizes that it has in a file."""
        rank = sizes["directions"][0] if sizes.get("directions") else None
        if rank is not None and rank > self.room(self.size):
            raise ValueError(f"{rank} directions of {self.size} features, more than a triangle would take")
        return self._shaped(n_classes, rank)

    def _shaped(self, n_classes: int, rank: int | None) -> Self:
        """Return an outline of so many directions; None for a triangle."""
        none = torch.empty(n_classes, self.size, dtype=self.dtype, device="meta")
        parts: dict[str, Any] = {"triangle": None, "triangle_sums": none}
        if rank is None:
            parts["triangle"] = Triangle.zeros(self.size, device="meta", dtype=self.dtype)
        rows, coordinates = none.new_empty(rank or 0, self.size), none.new_empty(n_classes, rank or 0)
        counts = torch.empty(n_classes, dtype=self.counts.dtype, device="meta")
        error = torch.empty((), dtype=self.error.dtype, device="meta")
        return self._with(**parts, directions=Directions(rows, coordinates), counts=counts, error=error, _solved=None)

    def tensors(self) -> dict[str, Tensor]:
        """Return the directions or the packed triangle, the class sums, the counts and the errors."""
        beside = {"counts": self.counts, "error": self.error}
        beside |= {"coding": self.coding.tensor()} if self.coding.variance else {}
        if self.triangle is None:
            return {"directions": self.directions.rows, "coordinates": self.directions.coordinates} | beside
        triangle, sums = (self.triangle, self.triangle_sums) if self.counts.is_meta else self._whole()
        return {"gram": triangle.packed(), "sums": sums} | beside

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic that was saved."""
        if "directions" in tensors:
            directions = Directions(tensors["directions"], tensors["coordinates"])
            return self._with_errors(self.of_directions(self.features, directions, tensors["counts"]), tensors)
        return self.of_saved(Triangle.unpacked(tensors["gram"], self.size), tensors["sums"], tensors)

    def of_saved(self, triangle: Triangle, sums: Tensor, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic that was saved, of a Gram matrix and class sums; counts and errors are the tensors'."""
        return self._with_errors(self.of_triangle(self.features, triangle, sums, tensors["counts"]), tensors)

    def _with_errors(self, saved: Self, tensors: Mapping[str, Tensor]) -> Self:
        error = tensors.get("error", unit_roundoff(self.dtype) * saved.energy)
        return saved._with(fold=self.fold, error=error, coding=CodingError.of(tensors.get("coding")))


def _weakness(factor: Factor, like: Tensor) -> float:
    """Return ‖A⁻¹‖_F, the root of E‖A⁻¹v‖² over standard normal v, by a few of them."""
    drawn = standard_normal(0, "weakness", PROBES, like.shape[1]).to(like).mT.contiguous()
    return float(factor.solve(drawn).double().square().sum(0).mean().sqrt())
