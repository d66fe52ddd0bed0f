"""Class counts, class means, and the scatter of the features around their class means."""

from collections.abc import Mapping
from typing import Literal, Self

import torch
from torch import Tensor

from anacp.linalg import pack_triangle, unpack_triangle
from anacp.statistics.base import Statistic, moved, row_blocks

__all__ = ["ClassMoments", "Spread"]

Spread = Literal["shared", "class", "diagonal"]


class ClassMoments(Statistic):
    """The first two moments of every class, exact whatever the batches.

    `spread` says how the within-class scatter Σ_i (x_i - μ_{c(i)})(x_i - μ_{c(i)})ᵀ is kept: "shared" pools all
    classes in one (d, d) matrix, "class" keeps one for each, "diagonal" pools the diagonal only. Means and pooled
    scatter are float64: they are small, and subtraction must not lose digits. One matrix a class is the dearest thing
    a model can hold, and is kept in `dtype`.
    """

    def __init__(
        self,
        n_features: int,
        *,
        spread: Spread = "shared",
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.spread = spread
        # Apple's accelerator has no float64.
        wide = torch.float32 if torch.device(device).type == "mps" else torch.float64
        self.counts = torch.zeros(0, dtype=torch.int64, device=device)  # (c,)
        self.means = torch.zeros(0, n_features, dtype=wide, device=device)  # (c, d)
        shape = {
            "shared": (n_features, n_features),
            "class": (0, n_features, n_features),
            "diagonal": (n_features,),
        }[spread]
        self.scatter = torch.zeros(shape, dtype=dtype if spread == "class" else wide, device=device)

    @property
    def n_classes(self) -> int:
        """How many classes are kept."""
        return len(self.counts)

    @property
    def n(self) -> int:
        """How many examples were seen."""
        return int(self.counts.sum())

    def covariance(self) -> Tensor:
        """Return the pooled within-class covariance scatter / N (Eq. 11): (d, d), or its diagonal (d,)."""
        scatter = self.scatter.sum(0).to(self.means.dtype) if self.spread == "class" else self.scatter
        return scatter / max(self.n, 1)

    def covariance_of(self, c: int) -> Tensor:
        """Return the covariance Σ_y (d, d) of one class; needs spread="class"."""
        return self.scatter[c].to(self.means.dtype) / self.counts[c].clamp_min(1)

    def mean_square(self) -> float:
        """Return E‖x‖², the scale against which jitter is measured."""
        diagonal = self.scatter if self.spread == "diagonal" else self.scatter.diagonal(dim1=-2, dim2=-1)
        total = float(diagonal.sum()) + float((self.counts[:, None] * self.means.square()).sum())
        return total / max(self.n, 1)

    def add_(self, x: Tensor, classes: Tensor, *, sign: int = 1) -> None:
        """Add examples in place (or take them out)."""
        present, local = torch.unique(classes, return_inverse=True)
        mine = self._rows(present)
        batch = self._of(x[:0], local[:0], len(present))
        for rows in row_blocks(len(x)):
            batch = batch + self._of(x[rows], local[rows], len(present))
        updated = mine + batch if sign > 0 else mine - batch
        by_class = self.spread == "class"
        scatter = self.scatter.index_copy(0, present, updated.scatter) if by_class else updated.scatter
        self.counts = self.counts.index_copy(0, present, updated.counts)
        self.means = self.means.index_copy(0, present, updated.means)
        self.scatter = scatter

    def _of(self, x: Tensor, classes: Tensor, n_classes: int) -> Self:
        """Return the moments of one block by the two-pass formula."""
        x = x.to(self.means.dtype)
        counts = torch.bincount(classes, minlength=n_classes)
        sums = x.new_zeros(n_classes, x.shape[1]).index_add_(0, classes, x)
        means = sums / counts.clamp_min(1)[:, None]
        deviations = x - means[classes]
        if self.spread == "shared":
            scatter = deviations.mT @ deviations
        elif self.spread == "diagonal":
            scatter = deviations.square().sum(0)
        else:
            scatter = self.scatter.new_zeros(n_classes, *self.scatter.shape[1:])
            for c in torch.unique(classes):
                of_class = deviations[classes == c]
                scatter[c] = of_class.mT @ of_class
        return self._with(counts, means, scatter)

    def _rows(self, classes: Tensor) -> Self:
        scatter = self.scatter[classes] if self.spread == "class" else self.scatter
        return self._with(self.counts[classes], self.means[classes], scatter)

    def __add__(self, other: Self) -> Self:
        n = self.counts + other.counts
        gap = other.means - self.means
        share = other.counts.to(gap.dtype) / n.clamp_min(1)
        scatter = self.scatter + other.scatter + self._between(gap, self.counts * share)
        return self._with(n, self.means + gap * share[:, None], scatter)

    def __sub__(self, other: Self) -> Self:
        left = self.counts - other.counts
        gap = self.means - other.means
        # Where nothing is left, nothing is remembered.
        share = torch.where(left > 0, other.counts.to(gap.dtype) / left.clamp_min(1), 0.0)
        means = torch.where(left[:, None] > 0, self.means + gap * share[:, None], 0.0)
        scatter = self.scatter - other.scatter - self._between(gap, self.counts * share)
        return self._with(left, means, scatter)

    def _between(self, gap: Tensor, weight: Tensor) -> Tensor:
        """Return Σ_c weight_c · gap_c gap_cᵀ in the shape of the scatter."""
        weighted = gap * weight[:, None]
        if self.spread == "shared":
            return weighted.mT @ gap
        if self.spread == "diagonal":
            return (weighted * gap).sum(0)
        return (weighted[:, :, None] * gap[:, None, :]).to(self.scatter.dtype)

    def _with(self, counts: Tensor, means: Tensor, scatter: Tensor) -> Self:
        result = type(self).__new__(type(self))
        result.spread, result.counts, result.means, result.scatter = self.spread, counts, means, scatter
        return result

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return these moments with class sources[i] at places[i]; a pooled scatter is shared, not copied."""
        scatter = moved(self.scatter, sources, places, n_classes) if self.spread == "class" else self.scatter
        counts = moved(self.counts, sources, places, n_classes)
        return self._with(counts, moved(self.means, sources, places, n_classes), scatter)

    def tensors(self) -> dict[str, Tensor]:
        """Return counts, means, and the scatter (a triangle where it is a pooled matrix)."""
        scatter = pack_triangle(self.scatter) if self.spread == "shared" else self.scatter
        return {"counts": self.counts, "means": self.means, "scatter": scatter}

    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        self.counts, self.means = tensors["counts"], tensors["means"]
        scatter = tensors["scatter"]
        if self.spread == "shared":
            triangle = unpack_triangle(scatter, self.means.shape[1])
            scatter = triangle + triangle.tril(-1).mT
        self.scatter = scatter
