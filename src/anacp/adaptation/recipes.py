"""How a backbone is trained for a short while: one frozen record a recipe."""

import difflib
from dataclasses import dataclass
from typing import Literal

from anacp.adaptation.plan import Plan
from anacp.errors import ParameterError, UnknownNameError

__all__ = ["RECIPES", "Recipe", "recipe"]


@dataclass(frozen=True)
class Recipe:
    """Which parts are trained, how fast and for how long. A result that used one should name it."""

    name: str
    head_rate: float  # learning rate of the linear head
    parts_rate: float  # learning rate of the parts
    parts: Literal["adapters", "lora", "lora-everywhere"] = "adapters"  # LoRA on query and value; on all linear layers
    rank: int = 8
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    epochs: int = 10
    batch_size: int = 128
    momentum: float = 0.0
    weight_decay: float = 0.0
    final_rate: float = 1.0  # share of both rates that a cosine over the epochs leads to; 1 keeps them constant

    def __post_init__(self) -> None:
        if self.parts not in (known := ("adapters", "lora", "lora-everywhere")):
            raise ParameterError(f"Expected parts to be one of {', '.join(known)}, got {self.parts!r}. Choose one.")
        if not isinstance(self.rank, int) or self.rank < 1:
            raise ParameterError(f"Expected rank of at least 1, got {self.rank!r}.")
        for field in ("head_rate", "parts_rate"):
            if not 0 <= getattr(self, field) < float("inf"):
                raise ParameterError(f"Expected {field} of at least 0, got {getattr(self, field)!r}.")
        _ = self.plan  # checks the rest

    @property
    def plan(self) -> Plan:
        """How the optimiser goes about it."""
        return Plan(
            self.epochs,
            self.batch_size,
            self.optimizer,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            final_rate=self.final_rate,
        )

    def share(self, epoch: int) -> float:
        """Return the share of the learning rates in an epoch, counted from 0."""
        return self.plan.share(epoch)


_ALL = (
    Recipe("dinov2", head_rate=1e-3, parts_rate=1e-4),
    Recipe("mocov3", head_rate=1e-2, parts_rate=1e-3),
    # Not published: chosen on the validation split of CLINC150, see docs/adaptation.md.
    Recipe("minilm", head_rate=1e-3, parts_rate=3e-5),
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
