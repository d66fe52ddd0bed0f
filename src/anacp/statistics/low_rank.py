"""The Gram matrix of very many features, kept as a basis of the rows seen and a small matrix in it."""

import math
from collections.abc import Mapping
from typing import ClassVar, Self, cast

import torch
from torch import Tensor

from anacp.errors import NumericalError
from anacp.linalg import symmetric
from anacp.statistics.base import LARGEST_DOUBT, Features, Statistic, moved, root_of, summed, tallied
from anacp.statistics.rounding import refuse_overflow, share, unit_roundoff, widest

# A direction with less energy than this, relative to the largest row, is rounding error.
NEGLIGIBLE = {torch.float32: 1e-10, torch.float64: 1e-14}

# Without a ridge, error matters where it is compared with the least of the directions that are inverted: by default
# three in four. Measured on scores, a five-hundredth of such a direction does as much as 1e-4 of a covariance.
TRUSTED_SHARE, WEIGHT = 0.75, 5e-2


class LowRankGram(Statistic):
    """G = ZᵀZ = Qᵀ K Q and the class sums in the basis Q, for m features far more than rows.

    Exact, whatever the batches, until more than `max_rank` independent rows were seen; from then on the directions of
    least energy are dropped whenever a quarter more than `max_rank` have gathered.

    The core is wide, so that adding costs no more than the last digit of the rows' own coordinates. Taking away leaves
    the difference of two such roundings: only that counts as `error`, and what was dropped counts beside it.
    """

    added_later: ClassVar[tuple[str, ...]] = ("error", "dropped")

    def __init__(
        self, features: Features, *, max_rank: int, device: str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.features = features
        self.max_rank = max_rank
        wide = widest(device)
        self.basis = torch.zeros(0, features.n_outputs, device=device, dtype=dtype)  # Q (r, m), orthonormal rows
        # Squaring halves the digits, and no ridge hides it: the small matrix has twice the precision.
        self.core = torch.zeros(0, 0, device=device, dtype=wide)  # K (r, r)
        self.sums = torch.zeros(0, 0, device=device, dtype=wide)  # (c, r)
        self.counts = torch.zeros(0, device=device, dtype=torch.int64)  # (c,)
        self.error = torch.zeros((), device=device, dtype=wide)  # of the energy, by taking away
        self.dropped = torch.zeros((), device=device, dtype=wide)  # energy of the directions dropped

    @property
    def n(self) -> float:
        """How many examples were seen, each as much as it counts."""
        return cast(float, self.counts.sum().item())

    def _add_block_(self, x: Tensor, classes: Tensor, weights: Tensor | None, sign: int) -> None:
        z = self.features(x)
        root = root_of(weights, z)
        z = z if root is None else root * z
        length = torch.linalg.vector_norm(z, dtype=self.core.dtype)
        energy = length.square()
        refuse_overflow((4 * length).to(z.dtype), z.dtype)  # coordinates are as long as rows, and sums a little longer
        grown, coordinates = self._spanning(z) if sign > 0 else (self, self._inside(z)[0])
        coordinates = coordinates.to(self.core.dtype)
        weighted = coordinates if root is None else root.to(coordinates.dtype) * coordinates
        updated = grown._with(
            core=grown.core + sign * coordinates.mT @ coordinates,
            sums=grown.sums.index_add(0, classes, weighted, alpha=sign),
            counts=tallied(self.counts, classes, weights, sign),
            error=torch.hypot(self.error, unit_roundoff(z.dtype) * energy) if sign < 0 else self.error,
        )._compressed()
        self.__dict__.update(updated.__dict__)

    def _settle_(self) -> None:
        self.sums = torch.where(self.counts[:, None] > 0, self.sums, 0.0)
        if not self.n:
            self.basis, self.core, self.sums = self.basis[:0], self.core[:0, :0], self.sums[:, :0]
            self.error, self.dropped = torch.zeros_like(self.error), torch.zeros_like(self.dropped)

    def doubt(self, classes: Tensor) -> float:
        """Return the share of the least trusted direction that may be rounding error, or was dropped, as it weighs."""
        if not bool(self.error + self.dropped > 0):
            return 0.0
        values = torch.linalg.eigvalsh(self.core)
        rank = min(math.ceil(TRUSTED_SHARE * min(self.n, self.basis.shape[1])), self.max_rank)
        return WEIGHT * share(self.error + self.dropped, self._least_trusted(values, rank))

    def _least_trusted(self, values: Tensor, rank: int) -> Tensor:
        trusted = values[-max(rank, 1) :]
        trusted = trusted[trusted > self.rounding(values)]
        return trusted.min() if len(trusted) else values.new_zeros(())

    def rounding(self, values: Tensor) -> Tensor:
        """Return what an eigenvalue of the core must exceed.

        Below lies the rounding error of coordinates kept in the basis' precision, or a direction that only comes into
        the basis if no larger row comes with it.
        """
        least = max(1e-2 * torch.finfo(self.basis.dtype).eps, NEGLIGIBLE[self.basis.dtype])
        return least * values.sum().clamp_min(0)

    def check_trusted(self, values: Tensor, rank: int) -> None:
        """Refuse to invert the largest eigenvalues when some are no more than what unlearning has left."""
        if WEIGHT * share(self.error, self._least_trusted(values, rank)) > LARGEST_DOUBT:
            raise NumericalError(
                "Expected directions well above the rounding error that unlearning has left, got some that are not: "
                "rows far smaller than those unlearned. Learn what stays anew with `fit`, or raise `truncation`."
            )

    def _inside(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the coordinates (n, r) of rows (n, m) in the basis, and what is left outside; twice is enough."""
        coordinates = rows @ self.basis.mT
        outside = rows - coordinates @ self.basis
        again = outside @ self.basis.mT
        return coordinates + again, outside - again @ self.basis

    def _spanning(self, rows: Tensor) -> tuple[Self, Tensor]:
        """Return this statistic with a basis that spans the rows too, and the rows' coordinates in it."""
        coordinates, outside = self._inside(rows)
        lengths = torch.linalg.vector_norm(rows, dim=1, dtype=self.core.dtype)
        new = self._directions(outside, float(lengths.square().max()) if len(rows) else 0.0)
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
        dropped = self.dropped + values[: -self.max_rank].clamp_min(0).sum()
        values, vectors = values[-self.max_rank :], vectors[:, -self.max_rank :]
        basis = vectors.mT.to(self.basis.dtype) @ self.basis
        return self._with(basis=basis, core=torch.diag(values), sums=self.sums @ vectors, dropped=dropped)

    def __add__(self, other: Self) -> Self:
        grown, coordinates = self._spanning(other.basis)
        coordinates = coordinates.to(self.core.dtype)
        core = grown.core + coordinates.mT @ other.core @ coordinates
        sums = grown.sums + other.sums @ coordinates
        counts = self.counts + other.counts
        both = self._with(basis=grown.basis, core=core, sums=sums, counts=counts)
        error, dropped = torch.hypot(self.error, other.error), self.dropped + other.dropped
        return both._with(error=error, dropped=dropped)._compressed()

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class sources[i] at places[i]; basis and core are shared, not copied."""
        sums, counts = (moved(rows, sources, places, n_classes) for rows in (self.sums, self.counts))
        return self._with(sums=sums, counts=counts)

    def joined(self, places: Tensor, n_classes: int) -> Self:
        """Return this statistic with class i at places[i]; class sums add."""
        sums, counts = (summed(rows, places, n_classes) for rows in (self.sums, self.counts))
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
        """Return the basis, the packed triangle of the core, the class sums, the counts and the errors."""
        rank = len(self.core)
        if self.core.is_meta:  # sizes only
            core = self.core.new_empty(rank * (rank + 1) // 2)
        else:
            core = self.core[tuple(torch.tril_indices(rank, rank, device=self.core.device))]
        kept = {"basis": self.basis, "core": core, "sums": self.sums, "counts": self.counts}
        return kept | {"error": self.error, "dropped": self.dropped}

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the statistic that was saved."""
        rank = len(tensors["basis"])
        core = tensors["core"].new_zeros(rank, rank)
        rows, columns = torch.tril_indices(rank, rank, device=core.device)
        core[rows, columns] = tensors["core"]
        kept = {name: tensors[name] for name in ("basis", "sums", "counts")}
        least = core.diagonal().min().clamp_min(0) if rank >= max(self.max_rank, 1) else core.new_zeros(())
        # Earlier versions did not say what they had dropped: at most as much a row as the weakest direction kept.
        dropped = least * (kept["counts"].sum() - rank).clamp_min(0)
        errors = {"error": tensors.get("error", core.new_zeros(())), "dropped": tensors.get("dropped", dropped)}
        return self._with(core=symmetric(core), **kept, **errors)
