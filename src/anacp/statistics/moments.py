"""Class counts, class means, and the scatter of the features around their class means."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self, cast

import torch
from torch import Tensor

from anacp.linalg import Triangle
from anacp.statistics.base import Features, Statistic, divisor, moved, root_of, summed, tallied
from anacp.statistics.rounding import (
    added_error,
    feature_rounding,
    merged_error,
    refuse_overflow,
    refuse_small_ridge,
    refuse_underflow,
    share,
    smallest_energy,
    unit_roundoff,
    widest,
)

Spread = Literal["shared", "class", "diagonal"]

# Rows that differ by less than the last digit of a float32, relative to their length, are equal.
EQUAL = torch.finfo(torch.float32).eps ** 2
# How many times the square of a mean the scatter around it may become.
ROOM = 1e8


class ClassMoments(Statistic):
    """The first two moments of every class, exact whatever the batches.

    `spread` says how the within-class scatter Σ_i (x_i - μ_{c(i)})(x_i - μ_{c(i)})ᵀ is kept: "shared" pools all
    classes in one (d, d) matrix, "class" keeps one for each, "diagonal" pools the diagonal only. Means are float64:
    they are small, and subtraction must not lose digits. So is the scatter, unless it is so large that `dtype` asks for
    less. With `features`, the moments are of features(x).

    Tracked errors: of each mean, as a length, and of the scatter, in units of its trace, for each class where each has
    its own. To what every statistic counts, the scatter adds 2·√(scatter · Σ‖x‖²) times the rounding of the rows.
    """

    added_later: ClassVar[tuple[str, ...]] = ("mean_errors", "scatter_error")

    def __init__(
        self,
        n_features: int,
        *,
        spread: Spread = "shared",
        features: Features | None = None,
        device: str = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self.spread = spread
        self.features = features
        width = features.n_outputs if features else n_features
        wide = widest(device)
        self.scatter_dtype = wide if dtype == torch.float64 else dtype
        self.counts = torch.zeros(0, dtype=torch.int64, device=device)  # (c,)
        self.means = torch.zeros(0, width, dtype=wide, device=device)  # (c, d)
        self.diagonal = torch.zeros(width if spread == "diagonal" else 0, dtype=self.scatter_dtype, device=device)
        self.mean_errors = torch.zeros(0, dtype=wide, device=device)  # (c,)
        self.scatter_error = torch.zeros(0 if spread == "class" else 1, dtype=wide, device=device)  # (c,) or (1,)
        self._copies: set[int] = set()  # which triangles are no other statistic's
        self.triangles: tuple[Triangle, ...] = (
            (self._no_scatter(),) if spread == "shared" else ()
        )  # one, or one a class

    @property
    def n_classes(self) -> int:
        """How many classes are kept."""
        return len(self.counts)

    @property
    def separable(self) -> bool:
        """Whether every class has a scatter of its own."""
        return self.spread == "class"

    @property
    def n(self) -> float:
        """How many examples were seen, each as much as it counts."""
        return cast(float, self.counts.sum().item())

    @property
    def scatter(self) -> Triangle:
        """The scatter pooled over all classes (d, d); needs spread="shared" or "class"."""
        return sum(self.triangles[1:], start=self.triangles[0]) if self.triangles else self._no_scatter()

    def covariance(self) -> Tensor:
        """Return the pooled within-class covariance scatter / N (Eq. 11): (d, d), or its diagonal (d,)."""
        if self.spread == "diagonal":
            return self.diagonal / (self.n or 1)
        return self.scatter.to(self.means.dtype).symmetric().div_(self.n or 1)

    def covariance_of(self, c: int) -> Tensor:
        """Return the covariance Σ_y (d, d) of one class; needs spread="class"."""
        return self.triangles[c].to(self.means.dtype).symmetric() / divisor(self.counts[c])

    def variances(self) -> Tensor:
        """Return the diagonal of the pooled scatter (d,)."""
        return self.diagonal if self.spread == "diagonal" else self.scatter.diagonal()

    def mean_square(self) -> float:
        """Return E‖x‖², the scale against which jitter is measured."""
        total = float(self.variances().sum()) + float((self.counts[:, None] * self.means.square()).sum())
        return total / (self.n or 1)

    def _add_block_(self, x: Tensor, classes: Tensor, weights: Tensor | None, sign: int) -> None:
        """Update by the two-pass formula: the scatter changes by a sum of outer products with one sign.

        With m rows of mean b joining (or leaving) n rows of mean μ, the scatter of the rows around b, and
        (n·m / (n ± m)) (b - μ)(b - μ)ᵀ, are added (or taken away). Rows that count more make a larger m.
        """
        rounding = feature_rounding(self.features, x, self.means.dtype)
        x = (self.features(x) if self.features else x).to(self.means.dtype)
        present, local = torch.unique(classes, return_inverse=True)
        n, root = self.counts[present], root_of(weights, x)
        m = tallied(torch.zeros(len(present), dtype=torch.int64, device=x.device), local, weights, 1)
        means = x.new_zeros(len(present), x.shape[1])
        means = means.index_add_(0, local, x if root is None else root.square() * x) / m[:, None]
        gap = means - self.means[present]
        counts = tallied(self.counts, classes, weights, sign)
        left = counts[present]
        # Where nothing is left, nothing is remembered.
        portion = torch.where(left > 0, m.to(x) / divisor(left), 0.0)
        updated = torch.where(left[:, None] > 0, self.means[present] + sign * portion[:, None] * gap, 0.0)
        within = x - means[local] if root is None else root * (x - means[local])
        summands = torch.cat([within, gap * (n * portion).sqrt()[:, None]])
        own = torch.cat([local, torch.arange(len(present)).to(local)])
        x = x if root is None else root * x
        squares, added = self._energy_of(x, local, len(present)), self._energy_of(summands, own, len(present))
        before = self._energies(present)
        self._add_outer_products_(summands.to(self.scatter_dtype), own, present, sign)
        after = self._energies(present)
        lost = (after < smallest_energy(self.scatter_dtype)) & (added > 16 * rounding**2 * squares)
        narrow = self.scatter_dtype != x.dtype
        refuse_underflow(lost.any() if narrow and sign > 0 else False, self.scatter_dtype)
        scattered = 2 * rounding * (torch.maximum(before, after) * squares).clamp_min(0).sqrt()
        own_error = self.scatter_error[present] if self.spread == "class" else self.scatter_error
        shifted = 2 * self.mean_errors[present] * _lengths(gap) * n * portion  # a mean that is off shifts its gap
        shifted = shifted if self.spread == "class" else shifted.sum()[None]
        error = torch.hypot(torch.hypot(added_error(own_error, self.scatter_dtype, before, after), scattered), shifted)
        self.scatter_error = self.scatter_error.index_copy(0, present, error) if self.spread == "class" else error
        moved_error = torch.hypot(n * self.mean_errors[present], m * rounding * _lengths(means)) / divisor(left)
        rounded = unit_roundoff(x.dtype) * (_lengths(updated) + portion * _lengths(gap))
        self.mean_errors = self.mean_errors.index_copy(0, present, torch.hypot(moved_error, rounded))
        self.counts = counts
        self.means = self.means.index_copy(0, present, updated)

    def _energy_of(self, rows: Tensor, local: Tensor, n_classes: int) -> Tensor:
        """Return Σ‖row‖² for each class, or for all where the scatter is pooled."""
        squares = _lengths(rows).square()
        if self.spread != "class":
            return squares.sum()[None]
        return squares.new_zeros(n_classes).index_add_(0, local, squares)

    def _energies(self, classes: Tensor) -> Tensor:
        """Return the traces of the scatters of these classes, or of the one that is pooled."""
        if self.spread == "diagonal":
            return self.diagonal.sum(dtype=self.means.dtype)[None]
        chosen = [self.triangles[c] for c in classes.tolist()] if self.spread == "class" else self.triangles
        traces = [triangle.diagonal().sum(dtype=self.means.dtype) for triangle in chosen]
        return torch.stack(traces) if traces else self.means.new_zeros(0)

    def _settle_(self) -> None:
        """Without two examples there is no scatter; nor is there when rows are equal as far as anybody can tell."""
        self.mean_errors = torch.where(self.counts > 0, self.mean_errors, 0.0)
        every = torch.arange(self.n_classes, device=self.counts.device)
        energies, squares = self._energies(every), self.counts * _lengths(self.means).square()
        by_class = self.spread == "class"
        one = 0 if self.counts.is_floating_point() else 1  # nobody can tell how many rows count less than one
        single = self.counts <= one if by_class else (self.counts <= one).all()[None]
        several = torch.where(self.counts > one, squares, torch.inf)  # where rows are pooled, the shortest decide
        negligible = self.scatter_error <= EQUAL * (several if by_class else several.min()[None])
        empty = single | (negligible & (energies <= 4 * self.scatter_error))
        if not bool(empty.any()):
            return
        self.scatter_error = torch.where(empty, 0.0, self.scatter_error)
        if self.spread == "diagonal":
            self.diagonal = torch.zeros_like(self.diagonal)
            return
        self.triangles = tuple(
            self._no_scatter() if gone and any(bool(strip.any()) for strip in triangle.strips) else triangle
            for triangle, gone in zip(self.triangles, empty.tolist(), strict=True)
        )

    def check_range(self) -> None:
        """Refuse squares that have overflowed or vanished."""
        every = torch.arange(self.n_classes, device=self.counts.device)
        refuse_overflow(self._energies(every).sum(), self.scatter_dtype)
        # A single row has no scatter yet, but the next of its class must find room.
        refuse_overflow((ROOM * _lengths(self.means).square()).to(self.scatter_dtype), self.scatter_dtype)

    def doubt(self, classes: Tensor) -> float:
        """Return the largest share of these classes' means, and of their scatter, that may be rounding error."""
        own = classes if self.spread == "class" else slice(None)
        means = share(self.mean_errors[classes], _lengths(self.means[classes]))
        return max(means, share(self.scatter_error[own], self._energies(classes)))

    def check_shrinkage(self, shrinkage: float) -> None:
        """Refuse to invert the pooled scatter + shrinkage · I when what unlearning has left would drown it."""
        error, energy = self.scatter_error.sum(), self.variances().sum(dtype=self.means.dtype)
        refuse_small_ridge(error, energy, self.n, self.means.shape[1], self.scatter_dtype, shrinkage)

    def has_scatter(self, c: int) -> bool:
        """Say whether the scatter of a class is more than rounding error; needs spread="class"."""
        return bool(self.triangles[c].diagonal().sum(dtype=self.means.dtype) > self.scatter_error[c])

    def _add_outer_products_(self, summands: Tensor, local: Tensor, present: Tensor, sign: int) -> None:
        if self.spread == "diagonal":
            self.diagonal = self.diagonal + sign * summands.square().sum(0)
        elif self.spread == "shared":
            self._own_triangle(0).add_gram_(summands, sign=sign)
        else:
            for i, c in enumerate(present.tolist()):
                self._own_triangle(c).add_gram_(summands[local == i], sign=sign)

    def _own_triangle(self, c: int) -> Triangle:
        """Return the scatter of a class, copied when it is first added to: classes without examples stay shared."""
        if c not in self._copies:
            self._copies.add(c)
            self.triangles = (*self.triangles[:c], self.triangles[c].copy(), *self.triangles[c + 1 :])
        return self.triangles[c]

    def _copied(self) -> Self:
        return self._with(_copies=set())

    def outline(self) -> Self:
        """Return these moments without their numbers, on device "meta"."""
        triangles = tuple(one.to("meta") for one in self.triangles)
        return super().outline()._with(triangles=triangles)

    def __add__(self, other: Self) -> Self:
        n = self.counts + other.counts
        gap = other.means - self.means
        portion = other.counts.to(gap.dtype) / divisor(n)
        between = (gap * (self.counts * portion).sqrt()[:, None]).to(self.scatter_dtype)  # (c, d), its outer products
        triangles = tuple(mine + theirs for mine, theirs in zip(self.triangles, other.triangles, strict=True))
        if self.spread == "shared":
            triangles[0].add_gram_(between)
        for triangle, row in zip(triangles, between, strict=True) if self.spread == "class" else ():
            triangle.add_gram_(row[None])
        both = self._with(
            counts=n,
            means=self.means + gap * portion[:, None],
            diagonal=self.diagonal + other.diagonal + (between.square().sum(0) if len(self.diagonal) else 0),
            triangles=triangles,
        )
        energies = both._energies(torch.arange(len(n), device=n.device))
        error = merged_error(self.scatter_error, other.scatter_error, self.scatter_dtype, energies)
        shifted = 2 * torch.hypot(self.mean_errors, other.mean_errors) * _lengths(gap) * self.counts * portion
        error = torch.hypot(error, shifted if self.spread == "class" else shifted.sum()[None])
        carried = torch.hypot(self.counts * self.mean_errors, other.counts * other.mean_errors) / divisor(n)
        rounded = unit_roundoff(gap.dtype) * (_lengths(both.means) + portion * _lengths(gap))
        return both._with(scatter_error=error, mean_errors=torch.hypot(carried, rounded))

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return these moments with class sources[i] at places[i]; scatters are shared, not copied."""
        counts, means, mean_errors = (
            moved(rows, sources, places, n_classes) for rows in (self.counts, self.means, self.mean_errors)
        )
        triangles, error = self.triangles, self.scatter_error
        if self.spread == "class":
            source_of = dict(zip(places.tolist(), sources.tolist(), strict=True)) if len(places) else {}
            found = (source_of.get(place) for place in range(n_classes))
            none = self._no_scatter()  # copied before anything is added to it
            triangles = tuple(none if c is None else self.triangles[c] for c in found)
            error = moved(error, sources, places, n_classes)
        return self._with(counts=counts, means=means, triangles=triangles, mean_errors=mean_errors, scatter_error=error)

    def joined(self, places: Tensor, n_classes: int) -> Self:
        """Return these moments with class i at places[i].

        The scatter of a class that others became is theirs, and Σ_c n_c (μ_c - μ)(μ_c - μ)ᵀ between them.
        """
        counts, weights = summed(self.counts, places, n_classes), self.counts.to(self.means.dtype)[:, None]
        means = summed(weights * self.means, places, n_classes) / divisor(counts)[:, None]
        gap = self.means - means[places]
        between = (gap * weights.sqrt()).to(self.scatter_dtype)  # (c, d), its outer products
        several = torch.bincount(places, minlength=n_classes)[places] > 1
        between = torch.where(several[:, None], between, 0.0)
        triangles = self.triangles
        if self.spread == "shared":
            triangles = (triangles[0].copy(),)
            triangles[0].add_gram_(between)
        elif self.spread == "class":
            joined: list[Triangle] = [self._no_scatter() for _ in range(n_classes)]
            for triangle, place in zip(triangles, places.tolist(), strict=True):
                joined[place] = joined[place] + triangle
            for row, place in zip(between, places.tolist(), strict=True):
                joined[place].add_gram_(row[None])
            triangles = tuple(joined)
        diagonal = self.diagonal + between.square().sum(0) if len(self.diagonal) else self.diagonal
        both = self._with(counts=counts, means=means, diagonal=diagonal, triangles=triangles)
        carried = summed((weights[:, 0] * self.mean_errors).square(), places, n_classes).sqrt() / divisor(counts)
        error = self.scatter_error.square()
        error = (summed(error, places, n_classes) if self.spread == "class" else error).sqrt()
        shifted = 2 * self.mean_errors * _lengths(gap) * weights[:, 0]
        shifted = summed(shifted, places, n_classes) if self.spread == "class" else shifted.sum()[None]
        rounded = unit_roundoff(self.scatter_dtype) * both._energies(torch.arange(n_classes, device=places.device))
        mean_errors = torch.hypot(carried, unit_roundoff(means.dtype) * _lengths(means))
        return both._with(mean_errors=mean_errors, scatter_error=torch.hypot(torch.hypot(error, shifted), rounded))

    def tensors(self) -> dict[str, Tensor]:
        """Return counts, means, and the scatter, matrices as triangles, with the errors of both."""
        if self.spread == "diagonal":
            scatter = self.diagonal
        elif self.spread == "shared":
            scatter = self.triangles[0].packed()
        else:
            width = self.means.shape[1]
            # An outline has sizes only, and torch would import much to stack them.
            packed = [] if self.means.is_meta else [triangle.packed() for triangle in self.triangles]
            shape = len(self.triangles), width * (width + 1) // 2
            scatter = torch.stack(packed) if packed else self.diagonal.new_empty(shape)
        errors = {"mean_errors": self.mean_errors, "scatter_error": self.scatter_error}
        return {"counts": self.counts, "means": self.means, "scatter": scatter} | errors

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the moments that were saved."""
        counts, means, scatter = (tensors[name] for name in ("counts", "means", "scatter"))
        if self.spread == "diagonal":
            saved = self._with(counts=counts, means=means, diagonal=scatter)
        else:
            packed = scatter if self.spread == "class" else scatter[None]
            triangles = tuple(Triangle.unpacked(one, means.shape[1]) for one in packed)
            saved = self._with(counts=counts, means=means, triangles=triangles, diagonal=scatter.new_zeros(0))
        energies = saved._energies(torch.arange(len(counts), device=counts.device))
        return saved._with(
            mean_errors=tensors.get("mean_errors", unit_roundoff(means.dtype) * _lengths(means)),
            scatter_error=tensors.get("scatter_error", unit_roundoff(self.scatter_dtype) * energies),
        )

    def _no_scatter(self) -> Triangle:
        return Triangle.zeros(self.means.shape[1], device=str(self.means.device), dtype=self.scatter_dtype)


def _lengths(rows: Tensor) -> Tensor:
    return cast(Tensor, torch.linalg.vector_norm(rows, dim=1))
