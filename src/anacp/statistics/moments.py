"""Class counts, class means, and the scatter of the features around their class means."""

from collections.abc import Mapping
from typing import Literal, Self

import torch
from torch import Tensor

from anacp.linalg import Triangle
from anacp.statistics.base import Features, Statistic, moved

Spread = Literal["shared", "class", "diagonal"]


class ClassMoments(Statistic):
    """The first two moments of every class, exact whatever the batches.

    `spread` says how the within-class scatter Σ_i (x_i - μ_{c(i)})(x_i - μ_{c(i)})ᵀ is kept: "shared" pools all
    classes in one (d, d) matrix, "class" keeps one for each, "diagonal" pools the diagonal only. Means are float64:
    they are small, and subtraction must not lose digits. So is the scatter, unless it is so large that `dtype` asks for
    less. With `features`, the moments are of features(x).
    """

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
        # Apple's accelerator has no float64.
        wide = torch.float32 if torch.device(device).type == "mps" else torch.float64
        self.scatter_dtype = wide if dtype == torch.float64 else dtype
        self.counts = torch.zeros(0, dtype=torch.int64, device=device)  # (c,)
        self.means = torch.zeros(0, width, dtype=wide, device=device)  # (c, d)
        self.diagonal = torch.zeros(width if spread == "diagonal" else 0, dtype=self.scatter_dtype, device=device)
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
    def n(self) -> int:
        """How many examples were seen."""
        return int(self.counts.sum())

    @property
    def scatter(self) -> Triangle:
        """The scatter pooled over all classes (d, d); needs spread="shared" or "class"."""
        return sum(self.triangles[1:], start=self.triangles[0]) if self.triangles else self._no_scatter()

    def covariance(self) -> Tensor:
        """Return the pooled within-class covariance scatter / N (Eq. 11): (d, d), or its diagonal (d,)."""
        if self.spread == "diagonal":
            return self.diagonal / max(self.n, 1)
        return self.scatter.to(self.means.dtype).symmetric() / max(self.n, 1)

    def covariance_of(self, c: int) -> Tensor:
        """Return the covariance Σ_y (d, d) of one class; needs spread="class"."""
        return self.triangles[c].to(self.means.dtype).symmetric() / self.counts[c].clamp_min(1)

    def variances(self) -> Tensor:
        """Return the diagonal of the pooled scatter (d,)."""
        return self.diagonal if self.spread == "diagonal" else self.scatter.diagonal()

    def mean_square(self) -> float:
        """Return E‖x‖², the scale against which jitter is measured."""
        total = float(self.variances().sum()) + float((self.counts[:, None] * self.means.square()).sum())
        return total / max(self.n, 1)

    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        """Update by the two-pass formula: the scatter changes by a sum of outer products with one sign.

        With m rows of mean b joining (or leaving) n rows of mean μ, the scatter of the rows around b, and
        (n·m / (n ± m)) (b - μ)(b - μ)ᵀ, are added (or taken away).
        """
        x = (self.features(x) if self.features else x).to(self.means.dtype)
        present, local = torch.unique(classes, return_inverse=True)
        n, m = self.counts[present], torch.bincount(local, minlength=len(present))
        means = x.new_zeros(len(present), x.shape[1]).index_add_(0, local, x) / m[:, None]
        gap = means - self.means[present]
        left = n + sign * m
        share = torch.where(left > 0, m.to(x) / left.clamp_min(1), 0.0)  # where nothing is left, nothing is remembered
        updated = torch.where(left[:, None] > 0, self.means[present] + sign * share[:, None] * gap, 0.0)
        summands = torch.cat([x - means[local], gap * (n * share).sqrt()[:, None]]).to(self.scatter_dtype)
        self._add_outer_products_(summands, torch.cat([local, torch.arange(len(present)).to(local)]), present, sign)
        self.counts = self.counts.index_copy(0, present, left)
        self.means = self.means.index_copy(0, present, updated)

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
        share = other.counts.to(gap.dtype) / n.clamp_min(1)
        between = (gap * (self.counts * share).sqrt()[:, None]).to(self.scatter_dtype)  # (c, d), its outer products
        triangles = tuple(mine + theirs for mine, theirs in zip(self.triangles, other.triangles, strict=True))
        if self.spread == "shared":
            triangles[0].add_gram_(between)
        for triangle, row in zip(triangles, between, strict=True) if self.spread == "class" else ():
            triangle.add_gram_(row[None])
        return self._with(
            counts=n,
            means=self.means + gap * share[:, None],
            diagonal=self.diagonal + other.diagonal + (between.square().sum(0) if len(self.diagonal) else 0),
            triangles=triangles,
        )

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return these moments with class sources[i] at places[i]; scatters are shared, not copied."""
        counts, means = (moved(rows, sources, places, n_classes) for rows in (self.counts, self.means))
        triangles = self.triangles
        if self.spread == "class":
            source_of = dict(zip(places.tolist(), sources.tolist(), strict=True)) if len(places) else {}
            found = (source_of.get(place) for place in range(n_classes))
            none = self._no_scatter()  # copied before anything is added to it
            triangles = tuple(none if c is None else self.triangles[c] for c in found)
        return self._with(counts=counts, means=means, triangles=triangles)

    def tensors(self) -> dict[str, Tensor]:
        """Return counts, means, and the scatter, matrices as triangles."""
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
        return {"counts": self.counts, "means": self.means, "scatter": scatter}

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the moments that were saved."""
        counts, means, scatter = (tensors[name] for name in ("counts", "means", "scatter"))
        if self.spread == "diagonal":
            return self._with(counts=counts, means=means, diagonal=scatter)
        packed = scatter if self.spread == "class" else scatter[None]
        triangles = tuple(Triangle.unpacked(one, means.shape[1]) for one in packed)
        return self._with(counts=counts, means=means, triangles=triangles)

    def _no_scatter(self) -> Triangle:
        return Triangle.zeros(self.means.shape[1], device=str(self.means.device), dtype=self.scatter_dtype)
