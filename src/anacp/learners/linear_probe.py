"""LinearProbe: softmax regression on the features of all data, the joint upper bound with an optimiser."""

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.catalogue import method
from anacp.errors import NumericalError
from anacp.learners.base import Learner
from anacp.learners.constraints import NOT_NEGATIVE, POSITIVE, Constraint, count
from anacp.learners.formulas import linear_scores
from anacp.learners.memory import Memory
from anacp.learners.solution import LinearWeights
from anacp.randomness import generator
from anacp.statistics import ClassMoments, ClassRows, Statistic

# Chosen on the validation split of CLINC150.
SETTINGS = {"minilm": {"learning_rate": 0.1}}


@method(settings=SETTINGS, page="linear_probe", compared=12)
class LinearProbe(Learner[LinearWeights]):
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

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.LinearProbe(n_epochs=3, learning_rate=0.1).partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "learning_rate": POSITIVE.solving,
        "n_epochs": count().solving,
        "batch_size": count().solving,
        "weight_decay": NOT_NEGATIVE.solving,
    }

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

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        rows = ClassRows(n_features, device=device, dtype=self._torch_dtype)
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device), "rows": rows}

    def _solve(self, memory: Memory, before: LinearWeights | None) -> LinearWeights:
        x, classes = cast(ClassRows, memory.statistics["rows"]).sorted()
        weights = x.new_zeros(x.shape[1], len(memory.classes), requires_grad=True)  # (d, c)
        biases = x.new_zeros(len(memory.classes), requires_grad=True)  # (c,)
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
        return LinearWeights(weights.detach(), biases.detach())

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        return {"weights": self._sized(n_features, n_classes), "biases": self._sized(n_classes)}

    def _scores(self, x: Tensor, solution: LinearWeights) -> Tensor:
        return linear_scores(x, solution.weights, solution.biases)

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        return {"weights, trained from the rows": (n_features + 1) * n_classes}
