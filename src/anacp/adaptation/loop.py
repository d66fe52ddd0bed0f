"""The optimiser loop: cross-entropy of a linear head on pooled features."""

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from anacp.adaptation.checkpoint import Checkpoint
from anacp.adaptation.recipes import Recipe
from anacp.errors import NumericalError
from anacp.randomness import generator

__all__ = ["Piece", "Progress", "optimise"]

Piece = tuple[list[int], dict[str, NDArray[Any]]]  # rows and what the network takes of them


@dataclass(frozen=True)
class Progress:
    """How far training is. Loss and accuracy are means over the epoch so far, on the rows it trains on."""

    epoch: int  # from 1
    n_epochs: int
    step: int  # from 1 in each epoch
    n_steps: int
    loss: float
    accuracy: float  # percent
    seconds: float  # since training began or was resumed


def optimise(
    network: nn.Module,
    head: nn.Linear,
    parts: Mapping[str, Tensor],
    batches: Callable[[list[list[int]]], Iterable[list[Piece]]],
    codes: Tensor,
    recipe: Recipe,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> Generator[Progress, None, None]:
    """Train head and parts, and yield after every step; a checkpoint is written after every epoch.

    `batches` reads rows, batch by batch, each batch in one or more pieces.

    The network stays in eval mode throughout: dropout and batch statistics are as frozen as its weights. So a batch may
    come in pieces, whose gradients add up to the batch's. The order of the rows is a function of (seed, epoch), so that
    resuming needs no random state.
    """
    started = perf_counter()
    trained = {"head.weight": head.weight, "head.bias": head.bias, **parts}
    optimizer = _optimizer(recipe, head, parts)
    done = checkpoint.load_(trained, optimizer) if checkpoint else 0
    network.eval()
    for epoch in range(done, recipe.epochs):
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] * recipe.share(epoch)
        order = torch.randperm(len(codes), generator=generator(seed, f"adaptation epoch {epoch}")).tolist()
        groups = [order[start : start + recipe.batch_size] for start in range(0, len(order), recipe.batch_size)]
        loss_sum, correct, seen = 0.0, 0, 0
        for step, pieces in enumerate(batches(groups)):
            optimizer.zero_grad()
            for rows, arrays in pieces:
                inputs = (torch.from_numpy(array).to(head.weight.device) for array in arrays.values())
                targets = codes[rows].to(head.weight.device)
                scores = head(network(*inputs))
                loss = F.cross_entropy(scores, targets, reduction="sum")
                (loss / len(groups[step])).backward()  # type: ignore[no-untyped-call]
                loss_sum, seen = loss_sum + loss.item(), seen + len(rows)
                correct += int((scores.argmax(1) == targets).sum())
            optimizer.step()
            if not math.isfinite(loss_sum):
                raise NumericalError(
                    f"Expected a finite loss, got {loss_sum} in epoch {epoch + 1} with recipe {recipe.name!r}. "
                    "Lower its learning rates."
                )
            if step + 1 == len(groups) and checkpoint:
                checkpoint.save(trained, optimizer, epoch + 1)
            yield Progress(
                epoch + 1,
                recipe.epochs,
                step + 1,
                len(groups),
                loss_sum / seen,
                100 * correct / seen,
                perf_counter() - started,
            )


def _optimizer(recipe: Recipe, head: nn.Linear, parts: Mapping[str, Tensor]) -> Optimizer:
    groups: list[dict[str, Any]] = [
        {"params": [head.weight, head.bias], "lr": recipe.head_rate, "initial_lr": recipe.head_rate},
        {"params": list(parts.values()), "lr": recipe.parts_rate, "initial_lr": recipe.parts_rate},
    ]
    if recipe.optimizer == "sgd":
        return SGD(groups, momentum=recipe.momentum, weight_decay=recipe.weight_decay)
    return (Adam if recipe.optimizer == "adam" else AdamW)(groups, weight_decay=recipe.weight_decay)
