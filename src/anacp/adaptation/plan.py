"""How an optimiser goes about it: steps, their length over time, and nothing about what is trained."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import SGD, Adam, AdamW, Optimizer

from anacp.errors import ParameterError

__all__ = ["Group", "Plan"]

WARM_UP, COLDEST = 0.3, 0.04  # of the one-cycle schedule: the share of all steps that rise, and where they begin


@dataclass(frozen=True)
class Group:
    """Parameters that are trained at one rate."""

    parameters: dict[str, Tensor]
    rate: float


@dataclass(frozen=True)
class Plan:
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
