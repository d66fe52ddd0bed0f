"""Whether a class was taught enough, by what the model remembers of it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.calibration import CALIBRATION_ROWS, mixed_draws, probabilities
from anacp.statistics import row_blocks

FEWEST_DRAWS = 20  # of a class


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

    A new example of a class of n examples lies around a mean that is itself known only up to Σ/n: it is drawn with
    (1 + 1/n) times the covariance, as ambiguous as those that calibrate the probabilities, and the model is asked.
    What one more example gains is the same draws with n + 1.
    """
    model = learner._snapshot()
    known = model._known()
    solved = model._solved(known)
    sharpness, moments = model._sharpness(known, solved), known.memory.moments
    labels, n_classes = known.memory.classes.tolist(), moments.n_classes
    draws = mixed_draws(
        moments, max(CALIBRATION_ROWS, FEWEST_DRAWS * n_classes), seed=model.random_state, role="outlook"
    )
    centres = moments.means[draws.first]
    centres = centres + draws.share[:, None] * (moments.means[draws.second] - centres)
    noise, counts = draws.rows - centres, moments.counts.to(centres.dtype)

    def chances(more: int) -> Tensor:
        """Return the mean probability of each class for examples of each, once there are `more` of all."""  # (c, c)
        rows = centres + noise * (1 + 1 / (counts + more)).sqrt()[draws.first][:, None]
        total = rows.new_zeros(n_classes, n_classes)
        for block in row_blocks(len(rows), model._block_rows):
            evidence = model._evidence(model._finite_scores(rows[block].to(model._torch_dtype), solved.solution))
            total.index_add_(0, draws.first[block], probabilities(evidence, sharpness).to(total.dtype))
        return total / torch.bincount(draws.first, minlength=n_classes)[:, None]

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
