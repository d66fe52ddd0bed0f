"""The Gram matrix of very many features, kept as a basis of the rows seen and a small matrix in it."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from anacp.linalg import symmetric
from anacp.statistics.base import Features, Statistic, moved

# A direction with less energy than this, relative to the largest row, is rounding error.
NEGLIGIBLE = {torch.float32: 1e-10, torch.float64: 1e-14}


class LowRankGram(Statistic):
    """G = ZᵀZ = Qᵀ K Q and the class sums in the basis Q, for m features far more than rows.

    Exact, whatever the batches, until more than `max_rank` independent rows were seen; from then on the directions of
    least energy are dropped whenever a quarter more than `max_rank` have gathered.
    """

    def __init__(
        self, features: Features, *, max_rank: int, device: str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.features = features
        self.max_rank = max_rank
        wide = torch.float32 if torch.device(device).type == "mps" else torch.float64
        self.basis = torch.zeros(0, features.n_outputs, device=device, dtype=dtype)  # Q (r, m), orthonormal rows
        # Squaring halves the digits, and no ridge hides it: the small matrix has twice the precision.
        self.core = torch.zeros(0, 0, device=device, dtype=wide)  # K (r, r)
        self.sums = torch.zeros(0, 0, device=device, dtype=wide)  # (c, r)
        self.counts = torch.zeros(0, device=device, dtype=torch.int64)  # (c,)

    @property
    def n(self) -> int:
        """How many examples were seen."""
        return int(self.counts.sum())

    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        z = self.features(x)
        grown, coordinates = self._spanning(z) if sign > 0 else (self, self._inside(z)[0])
        coordinates = coordinates.to(self.core.dtype)
        updated = grown._with(
            core=grown.core + sign * coordinates.mT @ coordinates,
            sums=grown.sums.index_add(0, classes, coordinates, alpha=sign),
            counts=self.counts + sign * torch.bincount(classes, minlength=len(self.counts)),
        )._compressed()
        self.basis, self.core, self.sums, self.counts = updated.basis, updated.core, updated.sums, updated.counts

    def _inside(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the coordinates (n, r) of rows (n, m) in the basis, and what is left outside; twice is enough."""
        coordinates = rows @ self.basis.mT
        outside = rows - coordinates @ self.basis
        again = outside @ self.basis.mT
        return coordinates + again, outside - again @ self.basis

    def _spanning(self, rows: Tensor) -> tuple[Self, Tensor]:
        """Return this statistic with a basis that spans the rows too, and the rows' coordinates in it."""
        coordinates, outside = self._inside(rows)
        new = self._directions(outside, float(rows.square().sum(1).max()) if len(rows) else 0.0)
        rank = len(self.basis)
        core = self.core.new_zeros(rank + len(new), rank + len(new))
        core[:rank, :rank] = self.core
        sums = torch.cat([self.sums, self.sums.new_zeros(len(self.sums), len(new))], dim=1)
        grown = self._with(basis=torch.cat([self.basis, new]), core=core, sums=sums)
        return grown, torch.cat([coordinates, outside @ new.mT], dim=1)

    def _directions(self, outside: Tensor, scale: float) -> Tensor:
        """Return orthonormal rows (k, m) that span the rows outside the basis, up to rounding error."""
        wide = outside.to(self.core.dtype)
        energies, mixtures = torch.linalg.eigh(wide @ wide.mT)
        kept = energies > NEGLIGIBLE[outside.dtype] * scale
        directions = (mixtures[:, kept] / energies[kept].sqrt()).mT @ wide
        # Scaled up from small differences, they may lean on the basis again.
        leaning = self._inside(directions.to(outside.dtype))[1]
        orthonormal: Tensor = torch.linalg.qr(leaning.mT)[0]
        return orthonormal.mT.contiguous()

    def _compressed(self) -> Self:
        """Drop the directions of least energy when there are a quarter more than wanted."""
        if 4 * len(self.basis) <= 5 * self.max_rank or len(self.basis) <= self.max_rank:
            return self
        values, vectors = torch.linalg.eigh(self.core)
        values, vectors = values[-self.max_rank :], vectors[:, -self.max_rank :]
        basis = vectors.mT.to(self.basis.dtype) @ self.basis
        return self._with(basis=basis, core=torch.diag(values), sums=self.sums @ vectors)

    def __add__(self, other: Self) -> Self:
        grown, coordinates = self._spanning(other.basis)
        coordinates = coordinates.to(self.core.dtype)
        core = grown.core + coordinates.mT @ other.core @ coordinates
        sums = grown.sums + other.sums @ coordinates
        counts = self.counts + other.counts
        return self._with(basis=grown.basis, core=core, sums=sums, counts=counts)._compressed()

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; basis and core are shared, not copied."""
        sums, counts = (moved(rows, sources, places, n_classes) for rows in (self.sums, self.counts))
        return self._with(sums=sums, counts=counts)

    def expected(self, n_classes: int, n_rows: int) -> Self:
        """Return an outline with the rank that n_rows independent rows give."""
        rank = min(n_rows, self.basis.shape[1], max(self.max_rank, 5 * self.max_rank // 4))
        return self._of_rank(rank, n_classes)

    def shaped(self, n_classes: int, sizes: Mapping[str, tuple[int, ...]]) -> Self:
        """Return an outline with the rank that the basis in the file has."""
        return self.expected(n_classes, sizes["basis"][0] if sizes.get("basis") else 0)

    def _of_rank(self, rank: int, n_classes: int) -> Self:
        return self._with(
            basis=self.basis.new_empty(rank, self.basis.shape[1]),
            core=self.core.new_empty(rank, rank),
            sums=self.sums.new_empty(n_classes, rank),
            counts=self.counts.new_empty(n_classes),
        )

    def tensors(self) -> dict[str, Tensor]:
        """Return the basis, the packed triangle of the core, the class sums and the counts."""
        if self.core.is_meta:  # sizes only
            core = self.core.new_empty(len(self.core) * (len(self.core) + 1) // 2)
            return {"basis": self.basis, "core": core, "sums": self.sums, "counts": self.counts}
        rows, columns = torch.tril_indices(len(self.core), len(self.core), device=self.core.device)
        return {"basis": self.basis, "core": self.core[rows, columns], "sums": self.sums, "counts": self.counts}

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic that was saved."""
        rank = len(tensors["basis"])
        core = tensors["core"].new_zeros(rank, rank)
        rows, columns = torch.tril_indices(rank, rank, device=core.device)
        core[rows, columns] = tensors["core"]
        return self._with(basis=tensors["basis"], core=symmetric(core), sums=tensors["sums"], counts=tensors["counts"])
