"""Class counts, class means, and the scatter of the features around their class means."""

from collections.abc import Mapping
from typing import Literal, Self

import torch
from torch import Tensor

from anacp.linalg import add_gram_, pack_triangle, symmetric, unpack_triangle
from anacp.statistics.base import Features, Statistic, moved

__all__ = ["ClassMoments", "Spread"]

Spread = Literal["shared", "class", "diagonal"]


class ClassMoments(Statistic):
    """The first two moments of every class, exact whatever the batches.

    `spread` says how the within-class scatter Σ_i (x_i - μ_{c(i)})(x_i - μ_{c(i)})ᵀ is kept: "shared" pools all
    classes in one (d, d) matrix, "class" keeps one for each, "diagonal" pools the diagonal only. Of matrices only the
    lower triangle is kept up. Means are float64: they are small, and subtraction must not lose digits. So is the
    scatter, unless it is so large that `dtype` asks for less. With `features`, the moments are of features(x).
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
        self.counts = torch.zeros(0, dtype=torch.int64, device=device)  # (c,)
        self.means = torch.zeros(0, width, dtype=wide, device=device)  # (c, d)
        shape = {"shared": (width, width), "class": (0, width, width), "diagonal": (width,)}[spread]
        self.scatter = torch.zeros(shape, dtype=wide if dtype == torch.float64 else dtype, device=device)

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

    def covariance(self) -> Tensor:
        """Return the pooled within-class covariance scatter / N (Eq. 11): (d, d), or its diagonal (d,)."""
        if self.spread == "diagonal":
            return self.scatter / max(self.n, 1)
        scatter = self.scatter.sum(0) if self.spread == "class" else self.scatter
        return symmetric(scatter.to(self.means.dtype)) / max(self.n, 1)

    def covariance_of(self, c: int) -> Tensor:
        """Return the covariance Σ_y (d, d) of one class; needs spread="class"."""
        return symmetric(self.scatter[c].to(self.means.dtype)) / self.counts[c].clamp_min(1)

    def mean_square(self) -> float:
        """Return E‖x‖², the scale against which jitter is measured."""
        diagonal = self.scatter if self.spread == "diagonal" else self.scatter.diagonal(dim1=-2, dim2=-1)
        total = float(diagonal.sum()) + float((self.counts[:, None] * self.means.square()).sum())
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
        counts, centres = self.counts.index_copy(0, present, left), self.means.index_copy(0, present, updated)
        summands = torch.cat([x - means[local], gap * (n * share).sqrt()[:, None]]).to(self.scatter.dtype)
        self._add_outer_products_(summands, torch.cat([local, torch.arange(len(present)).to(local)]), present, sign)
        self.counts, self.means = counts, centres

    def _add_outer_products_(self, summands: Tensor, local: Tensor, present: Tensor, sign: int) -> None:
        if self.spread == "shared":
            add_gram_(self.scatter, summands, sign=sign)
        elif self.spread == "diagonal":
            self.scatter = self.scatter + sign * summands.square().sum(0)
        else:
            done: list[int] = []
            try:
                for i, c in enumerate(present.tolist()):
                    add_gram_(self.scatter[c], summands[local == i], sign=sign)
                    done.append(i)
            except BaseException:
                for i in done:
                    add_gram_(self.scatter[int(present[i])], summands[local == i], sign=-sign)
                raise

    def __add__(self, other: Self) -> Self:
        n = self.counts + other.counts
        gap = other.means - self.means
        share = other.counts.to(gap.dtype) / n.clamp_min(1)
        scatter = self.scatter + other.scatter + self._between(gap, self.counts * share)
        return self._with(n, self.means + gap * share[:, None], scatter)

    def _between(self, gap: Tensor, weight: Tensor) -> Tensor:
        """Return Σ_c weight_c · gap_c gap_cᵀ in the shape of the scatter."""
        weighted = gap * weight[:, None]
        if self.spread == "shared":
            return (weighted.mT @ gap).to(self.scatter.dtype)
        if self.spread == "diagonal":
            return (weighted * gap).sum(0)
        return (weighted[:, :, None] * gap[:, None, :]).to(self.scatter.dtype)

    def _with(self, counts: Tensor, means: Tensor, scatter: Tensor) -> Self:
        result = type(self).__new__(type(self))
        result.spread, result.features = self.spread, self.features
        result.counts, result.means, result.scatter = counts, means, scatter
        return result

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return these moments with class sources[i] at places[i]; a pooled scatter is shared, not copied."""
        scatter = moved(self.scatter, sources, places, n_classes) if self.spread == "class" else self.scatter
        counts = moved(self.counts, sources, places, n_classes)
        return self._with(counts, moved(self.means, sources, places, n_classes), scatter)

    def tensors(self) -> dict[str, Tensor]:
        """Return counts, means, and the scatter, matrices as triangles."""
        scatter = self.scatter if self.spread == "diagonal" else pack_triangle(self.scatter)
        return {"counts": self.counts, "means": self.means, "scatter": scatter}

    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        self.counts, self.means = tensors["counts"], tensors["means"]
        scatter = tensors["scatter"]
        self.scatter = scatter if self.spread == "diagonal" else unpack_triangle(scatter, self.means.shape[1])
