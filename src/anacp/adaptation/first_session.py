"""First-session adaptation: a backbone adapted to the first task, and frozen from then on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from anacp.adaptation.adaptation import Adaptation
from anacp.adaptation.loop import Progress
from anacp.adaptation.recipes import Recipe
from anacp.adaptation.training import Trained, train
from anacp.backbones import Backbone

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["adapt", "finish"]


def adapt(
    backbone: Backbone,
    items: Sequence[str | Path | Image],
    labels: ArrayLike,
    *,
    recipe: str | Recipe,
    seed: int = 0,
    checkpoints: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Adaptation:
    """Adapt a backbone to the first task; `apply` of what is returned gives the adapted backbone. See `train`.

    The head that was trained along is discarded. The tasks that follow must all use the adapted backbone as it is:
    another adaptation would change the features that a learner remembers.
    """
    steps = train(backbone, items, labels, recipe=recipe, seed=seed, checkpoints=checkpoints)
    return finish(steps, progress).adaptation


def finish(steps: Generator[Progress, None, Trained], progress: Callable[[Progress], None] | None) -> Trained:
    """Run a training to its end and return its value."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            trained: Trained = end.value
            return trained
        if progress is not None:
            progress(step)
