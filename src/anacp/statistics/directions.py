"""Few rows of features as their principal directions: a Gram matrix of low rank that no example can be read off."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from anacp.errors import NumericalError
from anacp.linalg import Factor, Triangle, checked, factor_psd, fresh_matrix, fresh_weights, solve_psd
from anacp.statistics.base import moved, summed
from anacp.statistics.rounding import widest

# Rows that are turned into directions together: few enough that turning them costs little.
TURNED_TOGETHER = 128
# A direction with less energy than this, relative to all of its block, is rounding error.
NEGLIGIBLE = {torch.float32: 1e-12, torch.float64: 1e-24}
# Units of rounding, relative to all energy, up to which what is left after taking rows out is rounding error.
ROUNDED = 4
# A row is taken out by itself where this much of it is left over at most.
CERTAIN = 3e-5
# And where its square is at most so many times the mean of those that stay.
LONGER = 100
# Its coordinates are looked for until this share of the first error is left, or in so many steps.
SETTLED, MOST_STEPS = 1e-13, 30


@dataclass(frozen=True, eq=False)
class SolvedDirections:
    """The factor of FFᵀ + λI for the first of some directions, to which those that follow are added."""

    ridge: float
    factor: Factor


@dataclass(frozen=True, eq=False)
class Directions:
    """The Gram matrix ZᵀZ = FᵀF of few rows Z, with their class sums as coordinates·F."""

    rows: Tensor  # F (r, m)
    coordinates: Tensor  # (c, r)
    squares: Tensor | None = None  # of the lengths of the rows (r,), where they are known already
    solved: SolvedDirections | None = None  # in memory only

    @classmethod
    def none(cls, n_classes: int, like: Tensor) -> Self:
        """Return the directions of no rows, as wide as a tensor (…, m)."""
        return cls(like.new_zeros(0, like.shape[-1]), like.new_zeros(n_classes, 0))

    @classmethod
    def of(cls, rows: Tensor, coordinates: Tensor, *, at_most: int | None = None) -> Self:
        """Return the principal directions UᵀZ of rows Z (n, m) with ZZᵀ = UΛUᵀ, the strongest if not all may be."""
        wide = rows.to(widest(str(rows.device)))
        near = wide / wide.abs().max().clamp_min(torch.finfo(rows.dtype).tiny) if len(rows) else wide
        _, vectors = torch.linalg.eigh(near @ near.mT)
        vectors = vectors[:, -(at_most or len(rows)) :].to(rows.dtype)
        turned, coordinates = vectors.mT @ rows, coordinates @ vectors
        # By their own energy: a small eigenvalue may come out as nothing, or less.
        largest = turned.abs().max().clamp_min(torch.finfo(rows.dtype).tiny) if len(rows) else turned.new_ones(())
        shares = (turned / largest).square().sum(1, dtype=wide.dtype)
        kept, squares = shares > NEGLIGIBLE[rows.dtype] * shares.sum(), shares * largest.to(wide.dtype) ** 2
        if bool(kept.all()):
            return cls(turned, coordinates, squares)
        return cls(turned[kept], coordinates[:, kept], squares[kept])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sums(self) -> Tensor:
        """The class sums (c, m)."""
        return self.coordinates @ self.rows

    @cached_property
    def energies(self) -> Tensor:
        """The squared lengths of the rows (r,)."""
        known = self.squares
        return self.rows.square().sum(1, dtype=widest(str(self.rows.device))) if known is None else known

    @property
    def energy(self) -> Tensor:
        """Σ‖z‖²."""
        return self.energies.sum()

    def solve(self, *, ridge: float, targets: Tensor | None = None) -> Tensor:
        """Return B = Fᵀ(FFᵀ + λI)⁻¹Yᵀ (m, c) with the class sums YF, or B P (m, k) for targets P (c, k)."""
        wanted = self.coordinates.mT if targets is None else self.coordinates.mT @ targets
        if self.solved is None or self.solved.ridge != ridge or len(self.solved.factor) < len(self):
            inside = solve_psd(Triangle.gram(self.rows.mT), wanted, shift=ridge)
        else:
            inside = checked(self.solved.factor.solve(wanted), len(self), ridge)
        weights = fresh_weights(self.rows, self.rows.shape[1], wanted.shape[1])
        torch.mm(self.rows.mT, inside, out=weights)
        return weights

    def factored(self, *, ridge: float) -> Self:
        """Return the same with FFᵀ + λI factored: what was factored before is extended by the directions since."""
        solved, rows = self.solved, self.rows
        known = len(solved.factor) if solved and solved.ridge == ridge else 0
        try:
            if not known:
                factor = factor_psd(Triangle.gram(rows.mT), shift=ridge)
            elif solved and known < len(rows):
                latest = rows[known:]
                corner = (latest @ latest.mT).contiguous()
                corner.diagonal().add_(ridge)
                factor = solved.factor.extended(latest @ rows[:known].mT, corner)
            else:
                return self
        except NumericalError:  # whoever solves says so, or finds that more digits do
            return replace(self, solved=None)
        return replace(self, solved=SolvedDirections(ridge, factor) if factor.dtype == rows.dtype else None)

    def plus(self, z: Tensor, classes: Tensor, root: Tensor | None, *, joined: bool) -> Self:
        """Return the directions of more rows (n, m); with `joined`, a few are turned together with the last ones.

        Rows that count w times are given times √w, with these roots (n, 1). Blocks that are turned are of equal size,
        so that none is of one row.
        """
        kept = len(self) - (min(len(self), max(TURNED_TOGETHER - len(z), 0)) if joined else 0)
        own = self.coordinates.new_zeros(len(self.coordinates), len(z))
        own[classes, torch.arange(len(z), device=z.device)] = own.new_ones(len(z)) if root is None else root[:, 0]
        rows, coordinates = torch.cat([self.rows[kept:], z]), torch.cat([self.coordinates[:, kept:], own], dim=1)
        n_blocks = max(1, -(-len(rows) // TURNED_TOGETHER))
        turned = map(self.of, rows.tensor_split(n_blocks), coordinates.tensor_split(n_blocks, dim=1))
        return self._first(kept)._followed_by(*turned)

    def _first(self, n: int) -> Self:
        solved = self.solved and replace(self.solved, factor=self.solved.factor.first(min(n, len(self.solved.factor))))
        return type(self)(self.rows[:n], self.coordinates[:, :n], self.energies[:n], solved if n else None)

    def without(self, z: Tensor, classes: Tensor, root: Tensor | None, *, n_left: int | None) -> Self:
        """Return the directions when some of the rows have left, and n_left are left; None if nobody counts them.

        With Fᵀ = QR, the Gram matrix is RRᵀ in the basis Q, and a row has the coordinates zQ. What is left,
        RRᵀ - (zQ)ᵀ(zQ), has a rank of n_left at most.
        """
        if n_left == 0:
            return type(self).none(len(self.coordinates), self.rows)
        wide = widest(str(z.device))
        basis, corner = torch.linalg.qr(self.rows.to(wide).mT)  # (m, r), (r, r)
        inside = z.to(wide) @ basis  # (n, r)
        weighted = inside if root is None else root.to(wide) * inside
        sums = (self.coordinates.to(wide) @ corner.mT).index_add(0, classes, weighted, alpha=-1)  # (c, r)
        gram = corner @ corner.mT - inside.mT @ inside
        _, vectors = torch.linalg.eigh(gram)
        smallest = ROUNDED * torch.finfo(self.rows.dtype).eps
        if n_left is not None:
            # Rounding mixes faint directions with what is gone: where class sums lead out of those kept, more are.
            vectors = vectors[:, -n_left:]
            _, lengths, more = torch.linalg.svd(sums - sums @ vectors @ vectors.mT, full_matrices=False)
            more = more[lengths > smallest * torch.linalg.vector_norm(sums)]
            vectors, _ = torch.linalg.qr(torch.cat([vectors, more.mT], dim=1))
        along, energies = sums @ vectors, (gram @ vectors * vectors).sum(0)
        if n_left is None:  # then what is left is told from rounding error by its size
            left = energies > smallest * energies.sum()
        else:  # n rows with the sum s have the energy s²/n at least: what rounding left less than that is given as much
            energies = torch.maximum(energies, along.square().sum(0) / n_left)
            left = energies > 0
        vectors, roots = vectors[:, left], energies[left].sqrt()
        rows = roots[:, None] * (basis @ vectors).mT
        return type(self)(rows.to(self.rows.dtype), (along[:, left] / roots).to(self.rows.dtype))

    def without_each(self, z: Tensor, classes: Tensor, root: Tensor | None, *, n_left: int) -> Self | None:
        """Return the same at the cost of a product of F with itself a row; None if rounding could do harm."""
        left: Self | None = self
        for i, (row, label) in enumerate(zip(z, classes, strict=True)):
            if left is None or not len(left):
                return None
            own = 1.0 if root is None else float(root[i])
            left = left._without_row(row, label, own, n_left=n_left + len(z) - 1 - i)
        return left

    def _without_row(self, z: Tensor, label: Tensor, root: float, *, n_left: int) -> Self | None:
        """Return the directions without a row z = Fᵀa: what is left is Fᵀ(I - aaᵀ)F.

        A reflection H that turns a into an axis makes HF of F, whose row of that axis is scaled by √(1 - ‖a‖²): to
        nothing, unless other examples lie in the same direction.
        """
        wide, precision = widest(str(z.device)), torch.finfo(z.dtype).eps
        if wide == z.dtype:  # nothing left to tell how sure this is
            return None
        squared = z.to(wide).square().sum()
        if bool(n_left * squared > LONGER * (self.energy - squared)):  # its rounding would be left in shorter ones
            return None
        a = self._coordinates_of(z)
        if a is None:
            return None
        left = 1 - a.dot(a)
        rounded = ROUNDED * precision * self.energy / squared  # of all energy, as a share of this row's
        gone = len(self) > n_left or bool(left <= ROUNDED * precision)
        if gone and not bool(left.abs() <= rounded):
            return None
        axis = int(a.abs().argmax())
        mirror = a.clone()
        mirror[axis] += torch.copysign(torch.linalg.vector_norm(a), a[axis])
        mirror /= torch.linalg.vector_norm(mirror)  # H = I - 2·mirror·mirrorᵀ
        coordinates = self.coordinates.to(wide)
        coordinates[label] -= root * a
        coordinates = torch.addr(coordinates, coordinates @ mirror, mirror, alpha=-2)
        narrow = mirror.to(z)
        turned = torch.addr(self.rows, narrow, narrow @ self.rows, alpha=-2)
        if gone:
            lost = torch.linalg.vector_norm(coordinates[:, axis]) * torch.linalg.vector_norm(turned[axis])
            if not bool(lost <= ROUNDED * precision * torch.linalg.vector_norm(self.sums)):
                return None  # class sums would go with it
            kept = torch.arange(len(turned), device=z.device) != axis
            return type(self)(turned[kept], coordinates[:, kept].to(z))
        turned[axis] *= left.sqrt()
        coordinates[:, axis] /= left.sqrt()
        return type(self)(turned, coordinates.to(z))

    def _coordinates_of(self, z: Tensor) -> Tensor | None:
        """Return a with z = Fᵀa, by conjugate gradients from a factor of FFᵀ; None if that does not lead to z."""
        wide, precision = widest(str(z.device)), torch.finfo(z.dtype).eps
        try:
            factor = factor_psd(Triangle.gram(self.rows.mT), shift=ROUNDED * precision * float(self.energies.max()))
        except NumericalError:
            return None
        a, beside = z.new_zeros(len(self), dtype=wide), z
        step, errors = torch.zeros_like(a), [1.0]
        while len(errors) <= MOST_STEPS and errors[-1] > SETTLED * errors[min(1, len(errors) - 1)]:
            gap = (self.rows @ beside).to(wide)
            nearer = factor.solve(gap[:, None])[:, 0]
            errors.append(float(gap.dot(nearer)))
            step = nearer + errors[-1] / errors[-2] * step
            image = step.to(z) @ self.rows
            far = errors[-1] / max(float(image.to(wide).square().sum()), torch.finfo(wide).tiny)
            a, beside = a + far * step, beside - far * image
        length = torch.linalg.vector_norm(z)
        return a if bool((length > 0) & (torch.linalg.vector_norm(beside) <= CERTAIN * length)) else None

    def __add__(self, other: Self) -> Self:
        return self._followed_by(other)

    def _followed_by(self, *others: Self) -> Self:
        everything = (self, *others)
        rows = fresh_matrix(self.rows, sum(map(len, everything)), self.rows.shape[1])
        torch.cat([one.rows for one in everything], out=rows)
        coordinates = torch.cat([one.coordinates for one in everything], dim=1)
        return type(self)(rows, coordinates, torch.cat([one.energies for one in everything]), self.solved)

    def at_classes(self, classes: slice) -> Self:
        """Return these directions with the class sums of some classes only."""
        return replace(self, coordinates=self.coordinates[classes])

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return these directions with class sources[i] at places[i]."""
        return replace(self, coordinates=moved(self.coordinates, sources, places, n_classes))

    def joined(self, places: Tensor, n_classes: int) -> Self:
        """Return these directions with class i at places[i]; class sums add."""
        return replace(self, coordinates=summed(self.coordinates, places, n_classes))
