"""The optimiser loop, one for everything that is trained: a loss comes in, parameters move."""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from anacp.adaptation.checkpoint import Checkpoint
from anacp.adaptation.plan import Group, Plan
from anacp.errors import NumericalError
from anacp.randomness import generator

__all__ = ["Batches", "Loss", "Piece", "Progress", "cross_entropy", "optimise"]

Piece = tuple[list[int], dict[str, NDArray[Any]]]  # rows and what the network takes of them
Batches = Callable[[int, list[list[int]]], Iterable[list[Piece]]]  # reads the batches of an epoch, each in pieces
Loss = Callable[[list[int], tuple[Tensor, ...]], tuple[Tensor, int]]  # summed over a piece's rows; how many are right


@dataclass(frozen=True)
class Progress:
    """How far training is. Loss and accuracy are means over the epoch so far, on the rows it trains on."""

    epoch: int  # from 1
    n_epochs: int
    step: int  # from 1 in each epoch
    n_steps: int
    loss: float
    accuracy: float  # percent
    seconds: float  # since training began, without the time between a kill and going on


def optimise(
    groups: Sequence[Group],
    batches: Batches,
    loss: Loss,
    n_rows: int,
    plan: Plan,
    seed: int,
    *,
    role: str = "adaptation",
    checkpoint: Checkpoint | None = None,
) -> Generator[Progress, None, None]:
    """Train the groups' parameters, and yield after every step; a checkpoint is written after every epoch.

    A batch may come in pieces, whose gradients add up to the batch's. The order of the rows is a function of
    (seed, role, epoch), so that resuming needs no random state. Networks belong in eval mode: dropout would draw from
    the global random state, and batch statistics would depend on the pieces.
    """
    trained = {name: parameter for group in groups for name, parameter in group.parameters.items()}
    device = next(iter(trained.values())).device
    optimizer = plan.optimizer_for(groups)
    done = checkpoint.load_(trained, optimizer) if checkpoint else 0
    started = perf_counter() - (checkpoint.seconds if checkpoint else 0.0)
    for epoch in range(done, plan.epochs):
        order = torch.randperm(n_rows, generator=generator(seed, f"{role} epoch {epoch}")).tolist()
        rows_of = [order[start : start + plan.batch_size] for start in range(0, n_rows, plan.batch_size)]
        loss_sum, correct, seen = 0.0, 0, 0
        for step, pieces in enumerate(batches(epoch, rows_of)):
            optimizer.zero_grad()
            for rows, arrays in pieces:
                summed, right = loss(rows, tuple(torch.from_numpy(array).to(device) for array in arrays.values()))
                (summed / len(rows_of[step])).backward()  # type: ignore[no-untyped-call]
                loss_sum, correct, seen = loss_sum + summed.item(), correct + right, seen + len(rows)
            plan.step(optimizer, plan.share(epoch, step, len(rows_of)))
            if not math.isfinite(loss_sum):
                raise NumericalError(
                    f"Expected a finite loss, got {loss_sum} in epoch {epoch + 1}. Lower its learning rates."
                )
            if step + 1 == len(rows_of) and checkpoint:
                checkpoint.save(trained, optimizer, epoch + 1, perf_counter() - started)
            yield Progress(
                epoch + 1,
                plan.epochs,
                step + 1,
                len(rows_of),
                loss_sum / seen,
                100 * correct / seen,
                perf_counter() - started,
            )


def cross_entropy(scores: Tensor, targets: Tensor) -> tuple[Tensor, int]:
    """Return the cross-entropy summed over rows, and how many rows are right."""
    return F.cross_entropy(scores, targets, reduction="sum"), int((scores.argmax(1) == targets).sum())
