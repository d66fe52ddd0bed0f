"""The optimiser loop, one for everything that is trained: a loss comes in, parameters move, checkpoints stay."""

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor
from torch.optim import SGD, Adam, AdamW, Optimizer

from anacp.adaptation.plan import Group, OptimiserPlan
from anacp.errors import AnacpError, NumericalError
from anacp.files import Fact, FileKind, Record, TensorFile, write_tensors
from anacp.randomness import generator

CHECKPOINT = FileKind("anacp-checkpoint", 2, "a checkpoint", noted=False)
_FACTS = Record({"epochs": Fact.whole(0), "seconds": Fact.share()})
TRAINED, STATE = "trained/", "optimizer/"
# What an optimiser keeps of each parameter.
KEPT: dict[type[Optimizer], tuple[str, ...]] = {
    SGD: ("momentum_buffer",),
    **dict.fromkeys((Adam, AdamW), ("step", "exp_avg", "exp_avg_sq")),
}

Piece = tuple[list[int], dict[str, NDArray[Any]]]  # rows and what the network takes of them
Batches = Callable[[int, list[list[int]]], Iterable[list[Piece]]]  # reads the batches of an epoch, each in pieces
Loss = Callable[[list[int], tuple[Tensor, ...]], tuple[Tensor, int]]  # summed over a piece's rows; how many are right


@dataclass(frozen=True)
class TrainingStep:
    """How far training is. Loss and accuracy are means over the epoch so far, on the rows it trains on."""

    epoch: int  # from 1
    n_epochs: int
    step: int  # from 1 in each epoch
    n_steps: int
    loss: float
    accuracy: float  # percent
    seconds: float  # since training began, without the time between a kill and going on

    @property
    def share(self) -> float:
        """How much of the training is done, from 0 to 1."""
        return (self.epoch - 1 + self.step / self.n_steps) / self.n_epochs

    def __str__(self) -> str:
        return f"epoch {self.epoch} of {self.n_epochs}, loss {self.loss:.3f}, {self.accuracy:.1f} % right"


class Checkpoint:
    """The trained weights and the optimiser's state of one run.

    Parameters
    ----------
    folder : Path
        Where checkpoints of any number of runs are kept.
    run : str
        What decides the run's result, as a hash: another run never finds this file.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self.path = Path(folder) / f"{run}.safetensors"
        self.seconds = 0.0  # that had been spent on what `load_` found

    def save(self, trained: Mapping[str, Tensor], optimizer: Optimizer, epochs: int, seconds: float) -> None:
        """Write all or nothing."""
        tensors = {f"{TRAINED}{name}": parameter for name, parameter in trained.items()}
        for number, state in optimizer.state_dict()["state"].items():
            tensors |= {f"{STATE}{number}/{name}": tensor for name, tensor in state.items() if tensor is not None}
        write_tensors(self.path, CHECKPOINT, {"epochs": epochs, "seconds": seconds}, tensors)

    def load_(self, trained: Mapping[str, Tensor], optimizer: Optimizer) -> int:
        """Put everything back and return how many epochs are done: 0, and nothing changed, without a whole file."""
        try:
            file = TensorFile(self.path, CHECKPOINT)
            file.check_header(_FACTS)
            file.check_tensors(_expected(file, trained, optimizer))
            weights, kept = file.tensors(TRAINED), file.tensors(STATE)
        except AnacpError:
            return 0
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in kept.items():
            number, _, key = name.partition("/")
            state.setdefault(int(number), {})[key] = tensor
        with torch.no_grad():
            for name, parameter in trained.items():
                parameter.copy_(weights[name])
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        self.seconds = float(file.header["seconds"])
        return int(file.header["epochs"])


def _expected(file: TensorFile, trained: Mapping[str, Tensor], optimizer: Optimizer) -> dict[str, Tensor]:
    """Return outlines of what a checkpoint holds: the parameters, and all that is kept of those that had a gradient."""
    expected = {f"{TRAINED}{name}": parameter for name, parameter in trained.items()}
    moved = {name.partition("/")[0] for name in file.sizes(STATE)}
    for number, parameter in enumerate(trained.values()):
        for key in KEPT[type(optimizer)] if str(number) in moved else ():
            expected[f"{STATE}{number}/{key}"] = torch.empty((), device="meta") if key == "step" else parameter
    return expected


def optimise(
    groups: Sequence[Group],
    batches: Batches,
    loss: Loss,
    n_rows: int,
    plan: OptimiserPlan,
    seed: int,
    *,
    role: str = "adaptation",
    checkpoint: Checkpoint | None = None,
) -> Generator[TrainingStep, None, float]:
    """Train the groups' parameters, and yield after every step; a checkpoint is written after every epoch.

    A batch may come in pieces, whose gradients add up to the batch's. The order of the rows is a function of
    (seed, role, epoch), so that resuming needs no random state. Networks belong in eval mode: dropout would draw from
    the global random state, and batch statistics would depend on the pieces.

    The generator's value is how many seconds it took in all, those of a checkpoint included.
    """
    trained = {name: parameter for group in groups for name, parameter in group.parameters.items()}
    device = next(iter(trained.values())).device
    optimizer = plan.optimizer_for(groups)
    done = checkpoint.load_(trained, optimizer) if checkpoint else 0
    seconds = checkpoint.seconds if checkpoint else 0.0
    started = perf_counter() - seconds
    for epoch in range(done, plan.epochs):
        order = torch.randperm(n_rows, generator=generator(seed, f"{role} epoch {epoch}")).tolist()
        rows_of = [order[start : start + plan.batch_size] for start in range(0, n_rows, plan.batch_size)]
        n_steps, loss_sum, correct, seen = len(rows_of), 0.0, 0, 0
        for step, pieces in enumerate(batches(epoch, rows_of)):
            optimizer.zero_grad()
            for rows, arrays in pieces:
                summed, right = loss(rows, network_inputs(arrays, device))
                (summed / len(rows_of[step])).backward()  # type: ignore[no-untyped-call]
                loss_sum, correct, seen = loss_sum + summed.item(), correct + right, seen + len(rows)
            plan.step(optimizer, plan.share(epoch, step, n_steps))
            if not math.isfinite(loss_sum):
                raise NumericalError(
                    f"Expected a finite loss, got {loss_sum} in epoch {epoch + 1}. Lower its learning rates."
                )
            seconds = perf_counter() - started
            if step + 1 == n_steps and checkpoint:
                checkpoint.save(trained, optimizer, epoch + 1, seconds)
            mean, percent = loss_sum / seen, 100 * correct / seen
            yield TrainingStep(epoch + 1, plan.epochs, step + 1, n_steps, mean, percent, seconds)
    return seconds


def cross_entropy(scores: Tensor, targets: Tensor) -> tuple[Tensor, int]:
    """Return the cross-entropy summed over rows, and how many rows are right."""
    return F.cross_entropy(scores, targets, reduction="sum"), int((scores.argmax(1) == targets).sum())


def network_inputs(arrays: Mapping[str, NDArray[Any]], device: str | torch.device) -> tuple[Tensor, ...]:
    """Return what was read of a piece as the network takes it."""
    return tuple(torch.from_numpy(array).to(device) for array in arrays.values())
