"""Target prototypes of more classes than features: the same numbers, with no matrix of all classes by all classes."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from anacp.linalg import cholesky_factor, column_blocks, unit_rows

# As in `symmetric_roots`: an eigenvalue this far below the largest is rounding error.
NEGLIGIBLE = 1e-8


@dataclass(frozen=True)
class _Whitened:
    """Whitened means U S Vᵀ: U and S are kept (r directions), V is made for the classes that are asked for."""

    factor: Tensor  # L with LLᵀ = Σ (d, d)
    means: Tensor  # (c, d)
    centre: Tensor  # (d,)
    vectors: Tensor  # U (d, r)
    lengths: Tensor  # S (r,)

    @classmethod
    def of(cls, factor: Tensor, means: Tensor, centre: Tensor) -> "_Whitened":
        nothing = means.new_zeros(0)
        raw = cls(factor, means, centre, means.new_zeros(0, 0), nothing)
        total = torch.zeros_like(factor)
        for classes in column_blocks(len(means)):
            rows = raw.rows(classes)
            total.addmm_(rows.mT, rows)
        values, vectors = torch.linalg.eigh(total)  # values are those of K = MᵀΣ⁻¹M
        kept = values > NEGLIGIBLE * values[-1:].clamp_min(0)
        return cls(factor, means, centre, vectors[:, kept], values[kept].sqrt())

    def rows(self, classes: slice) -> Tensor:
        """Return the whitened means of some classes (n, d)."""
        centred = (self.means[classes] - self.centre).mT
        whitened: Tensor = torch.linalg.solve_triangular(self.factor, centred, upper=False)
        return whitened.mT

    def coordinates(self, rows: Tensor) -> Tensor:
        """Return V (n, r) of whitened means."""
        return rows @ self.vectors / self.lengths


def many_target_prototypes(
    means: Tensor, covariance: Tensor, *, targets: Literal["paper", "reference"], repulsion: float
) -> Tensor:
    """Return what `target_prototypes` does: with K = V S² Vᵀ, K^{-1/2} M = V S⁻¹ (VᵀM), and K^{1/2} = V S Vᵀ."""
    factor = cholesky_factor(covariance)
    centre = means.mean(0) if targets == "reference" else torch.zeros_like(means[0])
    whitened = _Whitened.of(factor, means, centre)
    moved = means.new_zeros(len(whitened.lengths), means.shape[1])  # VᵀM (r, d)
    for classes in column_blocks(len(means)):
        moved.addmm_(whitened.coordinates(whitened.rows(classes)).mT, means[classes] - centre)
    prototypes = torch.empty_like(means)
    for classes in column_blocks(len(means)):
        rows, centred = whitened.rows(classes), means[classes] - centre
        pushed = repulsion * whitened.coordinates(rows) / whitened.lengths @ moved
        if targets == "paper":
            prototypes[classes] = centred + _signs(whitened, classes, rows)[:, None] * pushed
        else:
            separated = torch.cholesky_solve((centred + pushed).mT, factor).mT
            prototypes[classes] = unit_rows(separated + centre)
    return prototypes


def _signs(whitened: _Whitened, classes: slice, rows: Tensor) -> Tensor:
    """Return the Lemma's δ_i of some classes (n,), as `separation_signs` does of all, over blocks of the others."""
    own = whitened.coordinates(rows)
    squared, root = rows.square().sum(1), (own.square() * whitened.lengths).sum(1)  # diagonals of K and K^{1/2}
    slopes = torch.zeros_like(squared)
    for others in column_blocks(len(whitened.means)):
        theirs = whitened.rows(others)
        inner, roots = rows @ theirs.mT, own * whitened.lengths @ whitened.coordinates(theirs).mT
        indicator = 2.0 * (inner >= 0) - 1
        terms = indicator * roots * squared[:, None] - root[:, None] * inner.abs()
        norms = theirs.square().sum(1).sqrt()
        terms = torch.where(norms > 0, terms / norms, 0.0)
        if others == classes:
            terms.fill_diagonal_(0)
        slopes += terms.sum(1)
    return -torch.sign(slopes)
