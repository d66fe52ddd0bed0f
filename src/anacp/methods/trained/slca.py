"""SLCA: a slow learner for the network, and a classifier aligned on Gaussians of all classes (Zhang et al. 2023)."""

from collections.abc import Generator, Iterable
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.adaptation.loop import Piece
from anacp.adaptation.plan import Group, Plan
from anacp.backbones import Backbone
from anacp.linalg import cholesky_factor
from anacp.methods.trained.head import OpenRows
from anacp.methods.trained.registry import register
from anacp.methods.trained.stage import Stage, State, TaskExamples
from anacp.methods.trained.tuned_network import TunedNetwork
from anacp.randomness import standard_normal

__all__ = ["SLCA"]

JITTER = 1e-4
ALIGNING = 0.1  # of a task's work, roughly


@register
class SLCA(TunedNetwork):
    """All weights are trained, the network far more slowly than the head; afterwards the head is aligned.

    A task is trained over its own logits. Then mean and covariance of the features of each of its classes are kept,
    and the whole head is trained on draws from the Gaussians of all classes, with normalised logits.

    Parameters
    ----------
    backbone : str or Backbone
        Any network.
    rate, head_rate : float, default=1e-4, 0.01
        Learning rates of network and head.
    epochs, batch_size : int, default=20, 128
        Passes over a task's items, and items a step. Published beyond CIFAR-100: 50 epochs; with MoCo-v3: 90.
    weight_decay : float, default=5e-4
        On everything that is trained.
    align_epochs, align_samples, align_rate : default=5, 256, 0.01
        Of the alignment: passes, draws a class (and rows a step), learning rate along a cosine to 0.
    temperature : float, default=0.1
        By which the normalised logits are divided.
    seed : int, default=0
        Decides the first weights, the order of the rows and the draws.
    checkpoints : path, optional
        A folder: a killed `learn` goes on from there.
    """

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        rate: float = 1e-4,
        head_rate: float = 0.01,
        epochs: int = 20,
        batch_size: int = 128,
        weight_decay: float = 5e-4,
        align_epochs: int = 5,
        align_samples: int = 256,
        align_rate: float = 0.01,
        temperature: float = 0.1,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, seed=seed, checkpoints=checkpoints)
        self.rate, self.head_rate, self.epochs, self.batch_size = rate, head_rate, epochs, batch_size
        self.weight_decay, self.temperature = weight_decay, temperature
        self.align_epochs, self.align_samples, self.align_rate = align_epochs, align_samples, align_rate
        self.plan = Plan(epochs, batch_size, "sgd", momentum=0.9, weight_decay=weight_decay)
        self.align_plan = Plan(
            align_epochs, align_samples, "sgd", momentum=0.9, weight_decay=weight_decay, final_rate=0.0
        )

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        network = yield from self._fine_tuning(task, state, task.present, 1.0 if task.index == 0 else 1 - ALIGNING)
        remember(state, self._features(network, task.items), task)
        if task.index > 0:
            yield from self._alignment(state, task)

    def _alignment(self, state: State, task: TaskExamples) -> Generator[Stage, None, None]:
        device, n_classes = self.backbone.device, len(task.task_of)
        head = OpenRows(state, torch.arange(n_classes), device)
        targets = torch.arange(n_classes).repeat_interleave(self.align_samples).to(device)
        sizes = torch.bincount(task.task_of).tolist()

        def batches(epoch: int, groups: list[list[int]]) -> Iterable[list[Piece]]:
            x = draw(state, task, self.align_samples, self.seed, f"SLCA task {task.index} epoch {epoch}").numpy()
            return ([(rows, {"features": x[rows]})] for rows in groups)

        def loss(rows: list[int], inputs: tuple[Tensor, ...]) -> tuple[Tensor, int]:
            scores = head(*inputs)
            norms = torch.stack([part.norm(dim=1) for part in torch.split(scores, sizes, dim=1)]).mean(0) + 1e-7  # (n,)
            return (
                F.cross_entropy(scores / norms[:, None] / self.temperature, targets[rows], reduction="sum"),
                int((scores.argmax(1) == targets[rows]).sum()),
            )

        groups = [Group(head.parameters, self.align_rate)]
        yield Stage("alignment", groups, loss, self.align_plan, ALIGNING, batches, len(targets))
        head.close()


def remember(state: State, features: Tensor, task: TaskExamples) -> None:
    """Keep mean and covariance of the features of each class of a task."""
    n_classes, width = len(task.task_of), features.shape[1]
    for name, shape in (("means.all", (n_classes, width)), ("covariances.all", (n_classes, width, width))):
        grown = torch.zeros(shape)
        if name in state:
            grown[: len(state[name])] = state[name]
        state[name] = grown
    for code in task.present.tolist():
        rows = features[task.codes == code]
        state["means.all"][code] = rows.mean(0)
        state["covariances.all"][code] = torch.cov(rows.mT, correction=min(1, len(rows) - 1))


def draw(state: State, task: TaskExamples, n: int, seed: int, role: str) -> Tensor:
    """Draw n rows a class from N(μ_c · (0.9 + 0.1·(t_c + 1)/(t + 1)), Σ_c + 1e-4·I); class c came with task t_c."""
    means, covariances = state["means.all"], state["covariances.all"]
    jitter = JITTER * torch.eye(means.shape[1])
    rows = []
    for code, age in enumerate(task.task_of.tolist()):
        factor = cholesky_factor(covariances[code] + jitter)
        shrink = 0.9 + 0.1 * (age + 1) / (task.index + 1)
        rows.append(means[code] * shrink + standard_normal(seed, f"{role} class {code}", n, len(jitter)) @ factor.mT)
    return torch.cat(rows)
