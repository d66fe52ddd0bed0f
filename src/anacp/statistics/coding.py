"""Statistics in fewer bits, for files: which are worth it, and which tensors they then are."""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.linalg import Triangle, low_rank_factor
from anacp.statistics.base import Statistic
from anacp.statistics.coded_names import DIRECTIONS, FACTOR, GRAM, SUMS, is_coded
from anacp.statistics.coded_triangle import coded_triangle, decoded_triangle
from anacp.statistics.coding_error import LARGEST_EFFECT, CodingError
from anacp.statistics.gram import ClassGram
from anacp.statistics.moments import ClassMoments

# Matrices of fewer numbers, a megabyte, are stored as they are: nothing would be gained.
WORTHWHILE = 2**18
# The largest signed number of 16 bits.
LARGEST = 2**15 - 1
# Features a row of a factor at most, so that no small file asks for a large matrix.
LARGEST_EXPANSION = 32


def coded(statistic: Statistic, moments: ClassMoments, ridge: float | None) -> dict[str, Tensor] | None:
    """Return the tensors of a statistic in fewer bits; None if it had better be stored as it is.

    A Gram matrix is coded if it is solved with a `ridge` that is known, and if its weights then move by no more than
    LARGEST_EFFECT, with all that was coded before.
    """
    if isinstance(statistic, ClassMoments):
        return _coded_moments(statistic)
    if not isinstance(statistic, ClassGram) or ridge is None or statistic.dtype != torch.float32:
        return None
    if statistic.triangle is None:
        return _coded_directions(statistic, ridge) if statistic.directions.rows.numel() >= WORTHWHILE else None
    large = statistic.size * (statistic.size + 1) // 2 >= WORTHWHILE
    return coded_triangle(statistic, moments, ridge) if large else None


def outlines(empty: Statistic, n_classes: int, sizes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Return the tensors that a file must have of a statistic, without numbers, told by the names that it has."""
    known = dict(sizes)
    if DIRECTIONS in sizes:
        known["directions"] = sizes[DIRECTIONS]
    parts = empty.shaped(n_classes, known).tensors()
    if isinstance(empty, ClassMoments) and empty.spread == "shared" and FACTOR in sizes:
        scatter, width = parts.pop("scatter"), empty.means.shape[1]
        rank = sizes[FACTOR][0] if sizes[FACTOR] else 0
        if not width // LARGEST_EXPANSION <= rank <= width / 2:
            raise ValueError(f"a scatter of {width} features by a factor of {rank} rows, too many or too few")
        parts[FACTOR] = scatter.new_empty(rank, width)
    if not isinstance(empty, ClassGram):
        return parts
    if GRAM in sizes and "gram" in parts:
        gram, sums = parts.pop("gram"), parts.pop("sums")
        parts |= {GRAM: gram.new_empty(gram.shape, dtype=torch.int8), "gram_scale": gram.new_empty(())}
        parts |= {SUMS: sums.new_empty(sums.shape, dtype=torch.int8), "sums_scales": sums.new_empty(n_classes)}
        parts["gram_diagonal"] = gram.new_empty(empty.size)
    elif DIRECTIONS in sizes:
        rows = parts.pop("directions")
        parts |= {DIRECTIONS: rows.new_empty(rows.shape, dtype=torch.int16)}
        parts |= {"directions_scales": rows.new_empty(len(rows))}
    if "coding" in sizes or is_coded(sizes):
        parts["coding"] = torch.empty(2, dtype=torch.float64, device="meta")
    return parts


def decoded(empty: Statistic, tensors: Mapping[str, Tensor], moments: Callable[[], ClassMoments]) -> Statistic:
    """Return the statistic whose tensors these are, coded or not; a ValueError says which numbers cannot be."""
    for name in ("gram_scale", "sums_scales", "gram_diagonal", "directions_scales", "coding"):
        if name in tensors and bool((tensors[name] < 0).any()):
            raise ValueError(f"{name} has a number below 0")
    if FACTOR in tensors:
        factor = tensors[FACTOR]
        return empty.loaded({**tensors, "scatter": Triangle.gram(factor).packed()})
    if DIRECTIONS in tensors:
        rows = _uncoded_rows(tensors[DIRECTIONS], tensors["directions_scales"])
        return empty.loaded({**tensors, "directions": rows})
    if GRAM in tensors:
        assert isinstance(empty, ClassGram)
        return decoded_triangle(empty, tensors, moments())
    return empty.loaded(tensors)


# The scatter -----------------------------------------------------------------------------------------------------


def _coded_moments(moments: ClassMoments) -> dict[str, Tensor] | None:
    """Return moments with the scatter of few rows as its factor: the same but for the last digits."""
    width = moments.means.shape[1]
    packed = width * (width + 1) // 2
    if moments.spread != "shared" or packed < WORTHWHILE or moments.n > width / 2:
        return None
    factor, _ = low_rank_factor(moments.scatter)  # (d, r)
    if factor.shape[1] > width / 4:
        return None
    factor = F.pad(factor, (0, max(0, width // LARGEST_EXPANSION - factor.shape[1])))
    parts = moments.tensors()
    parts.pop("scatter")
    lost = moments.variances().sum(dtype=moments.means.dtype) - factor.square().sum(dtype=moments.means.dtype)
    parts["scatter_error"] = torch.hypot(parts["scatter_error"], lost)
    return parts | {FACTOR: factor.mT.contiguous()}


# Directions ------------------------------------------------------------------------------------------------------


def _coded_directions(gram: ClassGram, ridge: float) -> dict[str, Tensor] | None:
    """Return rows in 16 bits an entry. What they leave out of Fᵀ F is Fᵀδ + δᵀF."""
    rows = gram.directions.rows
    scales = rows.abs().amax(1)
    codes = (rows / torch.where(scales > 0, scales, 1.0)[:, None] * LARGEST).round().to(torch.int16)
    wide, lost = rows.double(), (_uncoded_rows(codes, scales) - rows).double()
    variance = float(2 * (wide.square().sum(1) * lost.square().sum(1)).sum() / gram.size**2)
    error = gram.coding.with_more(variance, CodingError.weakest(gram.size, ridge))
    if not error.effect <= LARGEST_EFFECT:
        return None
    parts = gram.tensors()
    parts.pop("directions")
    return parts | {DIRECTIONS: codes, "directions_scales": scales, "coding": error.tensor()}


def _uncoded_rows(codes: Tensor, scales: Tensor) -> Tensor:
    return codes.to(scales.dtype) / LARGEST * scales[:, None]
