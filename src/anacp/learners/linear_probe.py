"""LinearProbe: softmax regression on the features of all data, the joint upper bound with an optimiser."""

from typing import Literal, cast

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.errors import NumericalError
from anacp.learners.base import Learner
from anacp.learners.registry import register
from anacp.learners.solved import Solution
from anacp.randomness import generator
from anacp.statistics import ClassMoments, ClassRows, Statistic

__all__ = ["LinearProbe"]


@register
class LinearProbe(Learner):
    """Softmax regression by stochastic gradient descent on every row ever learned: what continual learners aim at.

    It keeps all features and trains anew from them, so it is an upper bound to compare with, not a continual learner.

    Parameters
    ----------
    learning_rate : float, default=0.01
        Of gradient descent with momentum 0.9.
    n_epochs : int, default=30
        Passes over the rows.
    batch_size : int, default=128
        Rows a step.
    weight_decay : float, default=5e-4
        On weights and intercepts.
    random_state : int, default=0
        Seed of the order of the rows, and of the draws that calibrate `predict_proba`.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of rows and weights.
    """

    _solve_parameters = frozenset({"learning_rate", "n_epochs", "batch_size", "weight_decay"})

    def __init__(
        self,
        *,
        learning_rate: float = 0.01,
        n_epochs: int = 30,
        batch_size: int = 128,
        weight_decay: float = 5e-4,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._expect("learning_rate", self.learning_rate > 0, "a positive number")
        self._expect_count("n_epochs")
        self._expect_count("batch_size")
        self._expect("weight_decay", self.weight_decay >= 0, "a number ≥ 0")

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        rows = ClassRows(n_features, device=device, dtype=self._torch_dtype)
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device), "rows": rows}

    def _solve(self) -> Solution:
        x, classes = cast(ClassRows, self._memory.statistics["rows"]).sorted()
        weights = x.new_zeros(x.shape[1], len(self._memory.classes), requires_grad=True)  # (d, c)
        biases = x.new_zeros(len(self._memory.classes), requires_grad=True)  # (c,)
        optimizer = torch.optim.SGD(
            [weights, biases], lr=self.learning_rate, momentum=0.9, weight_decay=self.weight_decay
        )
        order = generator(self.random_state, "order of rows")
        with torch.enable_grad():
            for _ in range(self.n_epochs):
                shuffled = torch.randperm(len(x), generator=order).to(x.device)
                for rows, targets in zip(
                    torch.split(x[shuffled], self.batch_size),
                    torch.split(classes[shuffled], self.batch_size),
                    strict=True,
                ):
                    optimizer.zero_grad()
                    loss = F.cross_entropy(torch.addmm(biases, rows, weights), targets)
                    loss.backward()  # type: ignore[no-untyped-call]
                    optimizer.step()
        if not (bool(torch.isfinite(weights).all()) and bool(torch.isfinite(biases).all())):
            raise NumericalError(
                f"Training diverged at learning_rate={self.learning_rate:g}. Lower it, or scale the features."
            )
        return {"weights": weights.detach(), "biases": biases.detach()}

    def _scores(self, x: Tensor, solution: Solution) -> Tensor:
        return x @ solution["weights"] + solution["biases"]

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        return {"weights, trained from the rows": (n_features + 1) * n_classes}
