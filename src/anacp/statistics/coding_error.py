"""What storing a Gram matrix in fewer bits does to the weights that are solved from it."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anacp.errors import NumericalError

# How much weights may move, relatively, by all that was coded; and how much when examples were unlearned since. They
# move most where features hardly vary: scores move by a quarter as much or less (docs/methods/anacp.md).
LARGEST_EFFECT, LARGEST_LEFT = 0.2, 0.4


@dataclass(frozen=True)
class CodingError:
    """Errors of the entries of a Gram matrix G, which learning on does not take away.

    They are independent, so that they move weights w = (G + λI)⁻¹ s, relatively, by about their deviation times the
    Frobenius norm of (G + λI)⁻¹. That norm, the weakness, never grows when examples are added; when examples leave, it
    grows no faster than their number shrinks.
    """

    variance: float = 0.0  # of an entry: of several codings, the sum
    weakness: float = 0.0  # at most, for the λ when it was coded

    @classmethod
    def of(cls, stored: Tensor | None) -> "CodingError":
        """Return what a file states; nothing stated is no error."""
        return cls() if stored is None else cls(*stored.tolist())

    @staticmethod
    def weakest(size: int, ridge: float) -> float:
        """Return the weakness of no examples, more than which there is none."""
        return math.sqrt(size) / ridge

    @property
    def effect(self) -> float:
        """How much weights move, relatively."""
        return math.sqrt(self.variance) * self.weakness if self.variance else 0.0

    def with_more(self, variance: float, weakness: float) -> "CodingError":
        """Return the error once more was coded, and the weakness as it is now."""
        return CodingError(self.variance + variance, weakness)

    def with_left(self, before: float, left: float) -> "CodingError":
        """Return the error when of so many examples fewer are left."""
        return replace(self, weakness=self.weakness * max(before / left, 1.0)) if left else CodingError()

    def __add__(self, other: "CodingError") -> "CodingError":
        known = [one.weakness for one in (self, other) if one.variance]
        return CodingError(self.variance + other.variance, min(known, default=0.0))

    def check(self, size: int, ridge: float) -> None:
        """Refuse to go on with so little left that its weights would be those of the error."""
        effect = math.sqrt(self.variance) * min(self.weakness, self.weakest(size, ridge))
        if effect > LARGEST_LEFT:
            raise NumericalError(
                f"Expected weights to be off by at most {LARGEST_LEFT:g} because the model was stored in fewer bits, "
                f"got {effect:.2g} with a ridge of {ridge:.2g} and what is left. Raise it, learn what stays anew with "
                "`fit`, or start from a file saved with exact=True; nothing has changed."
            )

    def tensor(self) -> Tensor:
        """Return both numbers (2,), as a file keeps them."""
        return torch.tensor([self.variance, self.weakness], dtype=torch.float64)
