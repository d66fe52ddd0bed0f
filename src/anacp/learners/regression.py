"""One-hot labels regressed onto features: what tells a learner how hard real examples are."""

from dataclasses import dataclass

from torch import Tensor

from anacp.errors import NumericalError
from anacp.statistics import ClassGram


@dataclass(frozen=True, eq=False)
class Regression:
    """B = (G + λI)⁻¹ MN, as a learner has solved it."""

    gram: ClassGram
    weights: Tensor  # B (m, c)
    ridge: float

    def __call__(self, rows: Tensor) -> Tensor:
        """Return zB (n, c) of rows as the statistics see them."""
        return self.gram.features(rows) @ self.weights

    def held_out_error(self) -> float | None:
        """Return the mean of ‖y - zB‖² over examples left out, if the statistics tell."""
        try:
            return self.gram.held_out_error(self.weights, ridge=self.ridge)
        except NumericalError:  # a solution that was saved is good for more than statistics in few bits
            return None
