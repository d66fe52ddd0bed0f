"""Joint fine-tuning: parts and head trained on the data of all tasks at once, the upper bound of every comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.adaptation.first_session import finish
from anacp.adaptation.loop import Progress
from anacp.adaptation.recipes import Recipe
from anacp.adaptation.training import train
from anacp.backbones import Backbone

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["FineTuned", "fine_tune"]


@dataclass(frozen=True, eq=False)
class FineTuned:
    """An adapted backbone and its linear head. It learns no further classes."""

    backbone: Backbone
    weight: NDArray[np.float32]  # (c, d)
    bias: NDArray[np.float32]  # (c,)
    classes: NDArray[Any]  # (c,) sorted

    def predict(self, items: Sequence[str | Path | Image]) -> NDArray[Any]:
        """Return the most likely label of each item."""
        return self.label(self.backbone.encode(items))

    def label(self, x: NDArray[np.float32]) -> NDArray[Any]:
        """Return the most likely label of each row of the backbone's features."""
        return np.asarray(self.classes[(x @ self.weight.T + self.bias).argmax(1)])


def fine_tune(
    backbone: Backbone,
    items: Sequence[str | Path | Image],
    labels: ArrayLike,
    *,
    recipe: str | Recipe,
    seed: int = 0,
    checkpoints: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> FineTuned:
    """Fine-tune a backbone with its head on all data: recipes "lora-dinov2", "lora-mocov3" or your own. See `train`."""
    trained = finish(train(backbone, items, labels, recipe=recipe, seed=seed, checkpoints=checkpoints), progress)
    return FineTuned(trained.adaptation.apply(backbone), trained.weight, trained.bias, trained.classes)
