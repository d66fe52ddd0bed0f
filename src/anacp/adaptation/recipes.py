"""How a backbone is trained for a short while: one frozen record a recipe."""

import difflib
import math
from dataclasses import dataclass
from typing import Literal

from anacp.errors import ParameterError, UnknownNameError

__all__ = ["RECIPES", "Recipe", "recipe"]


@dataclass(frozen=True)
class Recipe:
    """Which parts are trained, how fast and for how long. A result that used one should name it."""

    name: str
    head_rate: float  # learning rate of the linear head
    parts_rate: float  # learning rate of the parts
    parts: Literal["adapters", "lora"] = "adapters"
    rank: int = 8
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    epochs: int = 10
    batch_size: int = 128
    momentum: float = 0.0
    weight_decay: float = 0.0
    final_rate: float = 1.0  # share of both rates that a cosine over the epochs leads to; 1 keeps them constant

    def __post_init__(self) -> None:
        for field, allowed in (("parts", ("adapters", "lora")), ("optimizer", ("adam", "adamw", "sgd"))):
            if getattr(self, field) not in allowed:
                raise ParameterError(
                    f"Expected {field} to be one of {', '.join(allowed)}, got {getattr(self, field)!r}. Choose one."
                )
        for field in ("rank", "epochs", "batch_size"):
            if not isinstance(getattr(self, field), int) or getattr(self, field) < 1:
                raise ParameterError(f"Expected {field} of at least 1, got {getattr(self, field)!r}.")
        for field in ("head_rate", "parts_rate", "momentum", "weight_decay", "final_rate"):
            if not 0 <= getattr(self, field) < float("inf"):
                raise ParameterError(f"Expected {field} of at least 0, got {getattr(self, field)!r}.")

    def share(self, epoch: int) -> float:
        """Return the share of the learning rates in an epoch, counted from 0."""
        cosine = (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        return self.final_rate + (1 - self.final_rate) * cosine


_ALL = (
    Recipe("dinov2", head_rate=1e-3, parts_rate=1e-4),
    Recipe("mocov3", head_rate=1e-2, parts_rate=1e-3),
    Recipe(
        "ranpac",
        head_rate=0.01,
        parts_rate=0.01,
        optimizer="sgd",
        epochs=20,
        batch_size=48,
        momentum=0.9,
        weight_decay=5e-4,
        final_rate=0.0,
    ),
    # The joint recipes leave the weight decay open; 0.01 is what torch's AdamW does when nothing is said.
    Recipe("lora-dinov2", 1e-3, 1e-4, "lora", optimizer="adamw", epochs=20, weight_decay=0.01, final_rate=0.1),
    Recipe("lora-mocov3", 1e-2, 1e-3, "lora", optimizer="adamw", epochs=20, weight_decay=0.01, final_rate=0.01),
)

RECIPES: dict[str, Recipe] = {known.name: known for known in _ALL}


def recipe(name: str) -> Recipe:
    """Return the record of that name, whatever its capitals; a near miss is answered with the right name."""
    folded = name.casefold().replace("_", "-")
    if folded in RECIPES:
        return RECIPES[folded]
    near = difflib.get_close_matches(folded, RECIPES, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UnknownNameError(f"Unknown recipe {name!r}. {hint}Known: {', '.join(sorted(RECIPES))}, or a Recipe.")
