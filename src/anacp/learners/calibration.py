"""Turning scores into probabilities that can be trusted."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.learners import formulas
from anacp.linalg import unit_rows
from anacp.randomness import generator
from anacp.replay import draw
from anacp.statistics import ClassMoments


@dataclass(frozen=True)
class MixedDraws:
    """Pseudo-features between two classes: of class `first` with probability 1 - share, of `second` with share."""

    rows: Tensor  # (n, d)
    first: Tensor  # (n,)
    second: Tensor  # (n,)
    share: Tensor  # (n,), at most one half


def mixed_draws(moments: ClassMoments, n_rows: int, *, seed: int, role: str = "calibration") -> MixedDraws:
    """Draw about n_rows pseudo-features that are as ambiguous as real ones can be.

    Draws from N(μ_c, Σ) alone are far easier than real examples, and would make every model overconfident. So each is
    moved part of the way to the mean of the class most like its own, and counts for both classes in proportion.
    Squaring a uniform number makes small parts the more common ones.
    """
    n_draws = max(1, n_rows // moments.n_classes)
    rows, first = draw(moments, n_draws, seed=seed, role=role)
    unit = unit_rows(moments.means)
    likeness = (unit @ unit.mT).fill_diagonal_(-torch.inf)
    second = likeness.argmax(1)[first]
    uniform = torch.rand(len(rows), generator=generator(seed, f"{role}/share"), dtype=torch.float64).to(rows)
    share = uniform.square() / 2
    return MixedDraws(rows + share[:, None] * (moments.means[second] - moments.means[first]), first, second, share)


def sharpness(evidence: Tensor, draws: MixedDraws) -> float:
    """Return the β > 0 for which softmax(β·evidence) is the most likely on the draws.

    The log-likelihood is concave in β, so Newton's method with halved steps finds its one maximum.
    """
    evidence = evidence.double()
    evidence = evidence - evidence.amax(1, keepdim=True)
    of_first, of_second = (evidence.gather(1, c[:, None]).squeeze(1) for c in (draws.first, draws.second))
    target = float(torch.lerp(of_first, of_second, draws.share.double()).mean())

    def loss(beta: float) -> float:
        return float(torch.logsumexp(beta * evidence, 1).mean()) - beta * target

    spread = float(evidence.std())
    if not spread > 0:
        return 1.0
    beta = 1.0 / spread
    for _ in range(100):
        weights = torch.softmax(beta * evidence, 1)
        mean = (weights * evidence).sum(1)
        slope = float(mean.mean()) - target
        curvature = float(((weights * evidence.square()).sum(1) - mean.square()).mean())
        if curvature <= 0 or abs(slope) <= 1e-9 * spread:
            break
        step = -slope / curvature
        while beta + step <= 0 or loss(beta + step) > loss(beta) + 1e-12:
            step /= 2
            if abs(step) < 1e-9 * beta:
                return beta
        beta += step
    return beta


def probabilities(evidence: Tensor, sharpness: float) -> Tensor:
    """Return softmax(sharpness · evidence) (n, c), of finite evidence of any size."""
    logits = sharpness * evidence
    if not bool(torch.isfinite(logits).all()):  # only what lies far below the largest may become infinite
        logits = sharpness * (evidence.double() - evidence.double().amax(1, keepdim=True))
    return torch.softmax(logits, dim=1).to(evidence.dtype)


def log_positive_part(scores: Tensor) -> Tensor:
    """Return what grows with the log-odds of scores that were fitted to 0 and 1 by least squares."""
    return formulas.log_positive_part(scores, torch, F.softplus)
