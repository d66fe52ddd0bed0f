"""SLCA: a slow learner for the network, and a classifier aligned on Gaussians of all classes (Zhang et al. 2023)."""

from collections.abc import Generator, Iterable
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.adaptation import Group, OptimiserPlan, Piece
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.linalg import cholesky_factor
from anacp.methods.trained.head import OpenRows
from anacp.methods.trained.task import Arrived, Stage, State, TaskExamples, feature_batches, sized
from anacp.methods.trained.tuned_network import TunedNetwork
from anacp.randomness import standard_normal

JITTER = 1e-4
ALIGNING = 0.1  # of a task's work, roughly


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(
    takes="items", settings={"minilm": {"rate": 3e-6, "head_rate": 0.05, "epochs": 2, "batch_size": 32}}, page="slca"
)
class SLCA(TunedNetwork):
    """All weights are trained, the network far more slowly than the head; afterwards the head is aligned.

    A task is trained over its own logits. Then mean and covariance of the features of each of its classes are kept,
    and the whole head is trained on draws from the Gaussians of all classes, with normalised logits.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    rate, head_rate : float, default=1e-4, 0.01
        Learning rates of network and head.
    epochs : int, default=20
        Published beyond CIFAR-100: 50; with MoCo-v3: 90.
    weight_decay : float, default=5e-4
        On everything that is trained.
    align_epochs, align_samples, align_rate : default=5, 256, 0.01
        Of the alignment: passes, draws a class (and rows a step), learning rate along a cosine to 0.
    temperature : float, default=0.1
        By which the normalised logits are divided.
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
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        self.head_rate, self.weight_decay, self.temperature = head_rate, weight_decay, temperature
        self.align_epochs, self.align_samples, self.align_rate = align_epochs, align_samples, align_rate
        self.plan = OptimiserPlan(epochs, batch_size, "sgd", momentum=0.9, weight_decay=weight_decay)
        self.align_plan = OptimiserPlan(
            align_epochs, align_samples, "sgd", momentum=0.9, weight_decay=weight_decay, final_rate=0.0
        )

    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        network = yield from self._fine_tuning(task, state, task.present, 1.0 if task.index == 0 else 1 - ALIGNING)
        remember(state, self._features(network, task.items), task)
        if task.index > 0:
            yield from self._alignment(state, task)

    def _outlines(self, n_classes: int, n_tasks: int) -> State:
        width = self.backbone.n_features
        means, covariances = sized(n_classes, width), sized(n_classes, width, width)
        return super()._outlines(n_classes, n_tasks) | {"means.all": means, "covariances.all": covariances}

    def _alignment(self, state: State, task: TaskExamples) -> Generator[Stage, None, None]:
        device, n_classes = self.backbone.device, len(task.arrived.classes)
        head = OpenRows(state, torch.arange(n_classes), device)
        targets = torch.arange(n_classes).repeat_interleave(self.align_samples).to(device)
        sizes = torch.bincount(task.arrived.task_of).tolist()

        def batches(epoch: int, groups: list[list[int]]) -> Iterable[list[Piece]]:
            role = f"SLCA task {task.index} epoch {epoch}"
            x = draw(state, task.arrived, self.align_samples, self.seed, role)
            return feature_batches(x.numpy(), groups)

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
    n_classes, width = len(task.arrived.classes), features.shape[1]
    for name, shape in (("means.all", (n_classes, width)), ("covariances.all", (n_classes, width, width))):
        grown = torch.zeros(shape)
        if name in state:
            grown[: len(state[name])] = state[name]
        state[name] = grown
    for code in task.present.tolist():
        rows = features[task.codes == code]
        state["means.all"][code] = rows.mean(0)
        state["covariances.all"][code] = torch.cov(rows.mT, correction=min(1, len(rows) - 1))


def draw(state: State, arrived: Arrived, n: int, seed: int, role: str) -> Tensor:
    """Draw n rows a class from N(μ_c · (0.9 + 0.1·(t_c + 1)/(t + 1)), Σ_c + 1e-4·I); c came with task t_c of 0 … t."""
    means, covariances = state["means.all"], state["covariances.all"]
    jitter = JITTER * torch.eye(means.shape[1])
    rows = []
    for code, age in enumerate(arrived.task_of.tolist()):
        factor = cholesky_factor(covariances[code] + jitter)
        shrink = 0.9 + 0.1 * (age + 1) / arrived.n_tasks
        rows.append(means[code] * shrink + standard_normal(seed, f"{role} class {code}", n, len(jitter)) @ factor.mT)
    return torch.cat(rows)
