"""How training goes about it: steps and their length over time as a plan, and recipes that say what is trained too."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import SGD, Adam, AdamW, Optimizer

from anacp.errors import ParameterError
from anacp.names import Names

WARM_UP, COLDEST = 0.3, 0.04  # of the one-cycle schedule: the share of all steps that rise, and where they begin


@dataclass(frozen=True)
class Group:
    """Parameters that are trained at one rate."""

    parameters: dict[str, Tensor]
    rate: float


@dataclass(frozen=True)
class OptimiserPlan:
    """Optimiser, length and schedule of one training. Rates are the groups' own; `share` says how they change."""

    epochs: int
    batch_size: int
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    momentum: float = 0.0
    weight_decay: float = 0.0
    schedule: Literal["cosine", "one-cycle"] = "cosine"
    final_rate: float = 1.0  # share of the rates that a cosine over the epochs leads to; 1 keeps them constant
    clip: float | None = None  # largest norm of the gradient of all parameters together

    def __post_init__(self) -> None:
        for field, allowed in (("optimizer", ("adam", "adamw", "sgd")), ("schedule", ("cosine", "one-cycle"))):
            if getattr(self, field) not in allowed:
                raise ParameterError(
                    f"Expected {field} to be one of {', '.join(allowed)}, got {getattr(self, field)!r}. Choose one."
                )
        for field in ("epochs", "batch_size"):
            if not isinstance(getattr(self, field), int) or getattr(self, field) < 1:
                raise ParameterError(f"Expected {field} of at least 1, got {getattr(self, field)!r}.")
        for field in ("momentum", "weight_decay", "final_rate"):
            if not 0 <= getattr(self, field) < float("inf"):
                raise ParameterError(f"Expected {field} of at least 0, got {getattr(self, field)!r}.")
        if self.clip is not None and not self.clip > 0:
            raise ParameterError(f"Expected clip above 0, or None, got {self.clip!r}.")

    def share(self, epoch: int, step: int = 0, n_steps: int = 1) -> float:
        """Return the share of the rates in a step, both counted from 0.

        "cosine" changes from epoch to epoch and ends at `final_rate`. "one-cycle" changes from step to step: up from
        1/25 during the first 30 % of all steps, then down to 0, both along a cosine.
        """
        if self.schedule == "cosine":
            return self.final_rate + (1 - self.final_rate) * (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        position = (epoch * n_steps + step) / (self.epochs * n_steps)
        if position < WARM_UP:
            return COLDEST + (1 - COLDEST) * (1 - math.cos(math.pi * position / WARM_UP)) / 2
        return (1 + math.cos(math.pi * (position - WARM_UP) / (1 - WARM_UP))) / 2

    def optimizer_for(self, groups: Sequence[Group]) -> Optimizer:
        """Return a fresh optimiser, each group with its rate."""
        stated: list[dict[str, Any]] = [
            {"params": list(group.parameters.values()), "lr": group.rate, "initial_lr": group.rate} for group in groups
        ]
        if self.optimizer == "sgd":
            return SGD(stated, momentum=self.momentum, weight_decay=self.weight_decay)
        return (Adam if self.optimizer == "adam" else AdamW)(stated, weight_decay=self.weight_decay)

    def step(self, optimizer: Optimizer, share: float) -> None:
        """Take one step at that share of the rates, the gradient clipped before."""
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] * share
        if self.clip is not None:
            clip_grad_norm_([one for group in optimizer.param_groups for one in group["params"]], self.clip)
        optimizer.step()


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
    def plan(self) -> OptimiserPlan:
        """How the optimiser goes about it."""
        return OptimiserPlan(
            self.epochs,
            self.batch_size,
            self.optimizer,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            final_rate=self.final_rate,
        )


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

RECIPES: Names[Recipe] = Names("recipe", {known.name: known for known in _ALL}, besides="or a Recipe")
