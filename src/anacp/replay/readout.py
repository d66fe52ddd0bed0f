"""What an ELM sees of features that went through a contrastive projection."""

from dataclasses import dataclass

from torch import Tensor

from anacp.projections import ACTIVATIONS, Activation


@dataclass(frozen=True)
class Readout:
    """The ELM's features φ(uV) of u = aP, from the coefficients a: φ(a·PV)."""

    matrix: Tensor  # PV (c, m)
    activation: Activation

    @property
    def n_outputs(self) -> int:
        """How many features a row gets."""
        return self.matrix.shape[1]

    def __call__(self, coefficients: Tensor) -> Tensor:
        """Return the features (n, m)."""
        return ACTIVATIONS[self.activation](coefficients @ self.matrix)
