"""Turning scores into probabilities that can be trusted."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.learners import formulas
from anacp.linalg import unit_rows
from anacp.randomness import generator
from anacp.replay import draw
from anacp.statistics import BLOCK_ROWS, ClassMoments, row_blocks

# Numbers of evidence that are looked at together, in float64.
AT_ONCE = 2**20
# How far draws may go towards another class, as roots: a fifth of all draws go the least far.
BOUNDS = (0.2, 0.35, 0.5, 0.65, 0.8, 1.0)


@dataclass(frozen=True)
class MixedDraws:
    """Pseudo-features between two classes: of class `first` with probability 1 - share, of `second` with share."""

    rows: Tensor  # (n, d)
    first: Tensor  # (n,)
    second: Tensor  # (n,)
    share: Tensor  # (n,), at most one half

    def of(self, chosen: Tensor) -> "MixedDraws":
        """Return some of them."""
        return MixedDraws(self.rows[chosen], self.first[chosen], self.second[chosen], self.share[chosen])


def mixed_draws(moments: ClassMoments, n_rows: int, *, seed: int, role: str = "calibration") -> MixedDraws:
    """Draw about n_rows pseudo-features that are as ambiguous as real ones can be.

    Draws from N(μ_c, Σ) alone are far easier than real examples, and would make every model overconfident. So each is
    moved part of the way to the mean of the class most like its own, and counts for both classes in proportion.
    Squaring a uniform number makes small parts the more common ones. Of more classes than rows, as many as rows are
    drawn from, evenly spread.
    """
    n_classes = moments.n_classes
    chosen = torch.arange(min(n_rows, n_classes), device=moments.means.device) * n_classes // min(n_rows, n_classes)
    n_draws = max(1, n_rows // n_classes)
    rows, first = draw(moments, n_draws, seed=seed, role=role, classes=chosen)
    second = _likest(moments, chosen).repeat_interleave(n_draws)
    uniform = torch.rand(len(rows), generator=generator(seed, f"{role}/share"), dtype=torch.float64).to(rows)
    share = uniform.square() / 2
    return MixedDraws(rows + share[:, None] * (moments.means[second] - moments.means[first]), first, second, share)


def _likest(moments: ClassMoments, chosen: Tensor) -> Tensor:
    """Return for each of some classes (k,) the one whose mean is likest its own, in blocks of both."""
    means, found = moments.means, []
    for own in torch.split(chosen, BLOCK_ROWS):
        unit = unit_rows(means[own])
        best, place = unit.new_full((len(own),), -torch.inf), torch.zeros_like(own)
        for block in row_blocks(len(means)):
            likeness = unit @ unit_rows(means[block]).mT
            inside = ((own >= block.start) & (own < block.stop)).nonzero().squeeze(1)
            likeness[inside, own[inside] - block.start] = -torch.inf
            largest, at = likeness.max(1)
            place = torch.where(largest > best, at + block.start, place)
            best = torch.maximum(best, largest)
        found.append(place)
    return torch.cat(found)


def sharpness(evidence: Tensor, draws: MixedDraws) -> float:
    """Return the β > 0 for which softmax(β·evidence) is the most likely on the draws.

    The log-likelihood is concave in β, so Newton's method with halved steps finds its one maximum.
    """
    blocks = list(row_blocks(len(evidence), max(1, AT_ONCE // evidence.shape[1])))

    def mean(of: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the means over all rows of what is said of evidence below the largest of its row."""
        sums = []
        for block in blocks:
            wide = evidence[block].double()
            sums.append(of(wide - wide.amax(1, keepdim=True)).sum(-1))
        return torch.stack(sums).sum(0) / len(evidence)

    of_first, of_second = (_below_largest(evidence, c) for c in (draws.first, draws.second))
    target = float(torch.lerp(of_first, of_second, draws.share.double()).mean())

    def loss(beta: float) -> float:
        return float(mean(lambda below: torch.logsumexp(beta * below, 1))) - beta * target

    def slope_and_curvature(beta: float) -> tuple[float, float]:
        def moments(below: Tensor) -> Tensor:
            weights = torch.softmax(beta * below, 1)
            first = (weights * below).sum(1)
            return torch.stack([first, (weights * below.square_()).sum(1) - first.square()])

        slope, curvature = mean(moments).tolist()
        return slope - target, curvature

    centre = float(mean(lambda below: below.mean(1)))
    spread = math.sqrt(float(mean(lambda below: (below - centre).square_().mean(1))))
    if not spread > 0:
        return 1.0
    beta: float = 1.0 / spread
    for _ in range(100):
        slope, curvature = slope_and_curvature(beta)
        if curvature <= 0 or abs(slope) <= 1e-9 * spread:
            break
        step = -slope / curvature
        while beta + step <= 0 or loss(beta + step) > loss(beta) + 1e-12:
            step /= 2
            if abs(step) < 1e-9 * beta:
                return beta
        beta += step
    return beta


def squared_errors(scores: Tensor, draws: MixedDraws) -> Tensor:
    """Return the mean of ‖y - s‖² over the two classes that a draw may be of, for scores s (n, c)."""
    own, other = (scores.gather(1, classes[:, None]).squeeze(1) for classes in (draws.first, draws.second))
    return scores.square().sum(1) - 2 * torch.lerp(own, other, draws.share.to(scores)) + 1


def matched_sharpness(evidence: Tensor, draws: MixedDraws, errors: Tensor, held_out: float) -> float:
    """Return the β for those of the draws that are as hard as examples left out, by the errors of a regression on both.

    With u² / 2 of the way to another class, u uniform, those with u up to a bound are draws that go less far. β is
    interpolated between bounds, so that rounding does not decide it.
    """
    way = (2 * draws.share).sqrt()
    bounds = [bound for bound in BOUNDS if bool((way <= bound).any())]
    means = torch.stack([errors[way <= bound].mean() for bound in bounds]).cummax(0).values.tolist()
    above = next((i for i, mean in enumerate(means) if mean >= held_out), None)
    if above is None:
        return sharpness(evidence, draws)

    def up_to(bound: float) -> float:
        near = way <= bound
        return sharpness(evidence[near], draws.of(near))

    if above == 0:
        return up_to(bounds[0])
    part: float = (held_out - means[above - 1]) / (means[above] - means[above - 1])
    return float(up_to(bounds[above - 1]) ** (1 - part) * up_to(bounds[above]) ** part)


def _below_largest(evidence: Tensor, classes: Tensor) -> Tensor:
    """Return the evidence for one class of each row (n,), less the largest of the row."""
    return evidence.gather(1, classes[:, None]).squeeze(1).double() - evidence.amax(1).double()


def probabilities(evidence: Tensor, sharpness: float) -> Tensor:
    """Return softmax(sharpness · evidence) (n, c), of finite evidence of any size."""
    logits = sharpness * evidence
    if not bool(torch.isfinite(logits).all()):  # only what lies far below the largest may become infinite
        logits = sharpness * (evidence.double() - evidence.double().amax(1, keepdim=True))
    return torch.softmax(logits, dim=1).to(evidence.dtype)


def log_positive_part(scores: Tensor) -> Tensor:
    """Return what grows with the log-odds of scores that were fitted to 0 and 1 by least squares."""
    return formulas.log_positive_part(scores, torch, F.softplus)
