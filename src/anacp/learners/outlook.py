"""Whether a class was taught enough, by what the model remembers of it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.calibration import mixed_draws, probabilities
from anacp.learners.reference import Spread, stretches
from anacp.statistics import row_blocks

DRAWS, FEWEST_DRAWS = 4000, 20  # of all classes, and of one


@dataclass(frozen=True)
class ClassOutlook:
    """What is to be expected of new examples of one class."""

    label: Any
    n: float  # examples learned
    sure: float  # the probability that its own class gets, on average
    confused_with: Any | None  # which other class gets most; None if there is no other
    confusion: float  # how much that gets, on average
    gain: float  # by how much one more example is likely to make it surer


def class_outlooks(learner: Learner[Any]) -> list[ClassOutlook]:
    """Return what the model's own Gaussians say of every class, in the order of `classes_`.

    The mean m of n examples is known only up to Σ/n, and lies farther out than the true one: of classes that vary by B
    around their common centre g, the true mean is expected at g + s(m - g) with s = B / (B + tr Σ/n), and known up to
    s Σ/n. New examples are drawn around there, as hard as those that calibrate the probabilities, and the model is
    asked. What one more example gains is the same draws with n + 1.
    """
    model = learner._snapshot()
    known = model._known()
    solved = model._solved(known)
    sharpness, moments = model._sharpness(known, solved), known.memory.moments
    labels, n_classes = known.memory.classes.tolist(), moments.n_classes
    draws = mixed_draws(moments, max(DRAWS, FEWEST_DRAWS * n_classes), seed=model.random_state, role="outlook")
    means, counts = moments.means, moments.counts.to(moments.means.dtype)
    drawn = torch.bincount(draws.first, minlength=n_classes)
    noise = draws.rows - torch.lerp(means[draws.first], means[draws.second], draws.share[:, None])
    stretch = stretches(moments, Spread.of(moments).freedom, len(noise), seed=model.random_state, role="outlook")
    variance = means.new_zeros(n_classes).index_add_(0, draws.first, noise.square().sum(1)) / drawn  # tr Σ
    between = _between(means, variance / counts)

    def chances(more: int) -> Tensor:
        """Return the mean probability of each class for examples of each, once there are `more` of all."""  # (c, c)
        doubt = variance / (counts + more)
        kept = 1 / (1 + doubt / between) if between > 0 else torch.zeros_like(doubt)  # s
        centres = torch.lerp(means.mean(0), means, kept[:, None])
        rows = torch.lerp(centres[draws.first], centres[draws.second], draws.share[:, None])
        rows = rows + noise * stretch * (1 + kept / (counts + more)).sqrt()[draws.first][:, None]
        total = rows.new_zeros(n_classes, n_classes)
        for block in row_blocks(len(rows), model._block_rows):
            evidence = model._evidence(model._finite_scores(rows[block].to(model._torch_dtype), solved.solution))
            total.index_add_(0, draws.first[block], probabilities(evidence, sharpness).to(total.dtype))
        return total / drawn[:, None]

    now, then = chances(0), chances(1)
    others = now.clone().fill_diagonal_(-1)
    nearest = others.argmax(1).tolist()
    return [
        ClassOutlook(
            label,
            counts[c].item() if moments.counts.is_floating_point() else int(counts[c]),
            float(now[c, c]),
            labels[nearest[c]] if n_classes > 1 else None,
            max(0.0, float(others[c, nearest[c]])),
            float(then[c, c] - now[c, c]),
        )
        for c, label in enumerate(labels)
    ]


def _between(means: Tensor, doubt: Tensor) -> Tensor:
    """Return how much true means vary around their centre, given the known ones and the variance of each of these."""
    n_classes = len(means)
    if n_classes == 1:
        return means.new_tensor(torch.inf)  # there is nothing to lie nearer to
    seen = (means - means.mean(0)).square().sum() / (n_classes - 1)
    return (seen - doubt.mean()).clamp_min(0)
