"""The numbers of a structured projection, and what they do to rows: by NumPy alone."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.randomness import DEVIATION, bell_shaped, random_signs

# Coordinates that an output is a random mixture of, after all have been mixed: enough for nearly normal outputs.
GROUP_WIDTH = 64


@dataclass(frozen=True)
class Structure:
    """R = S (C ⊗ I) diag(R_1, …, R_g): signs S, a cosine transform C over g groups, and a matrix a group."""

    n_features: int
    n_outputs: int
    seed: int
    role: str

    @property
    def n_groups(self) -> int:
        """How many groups, g."""
        return max(1, round(self.n_features / GROUP_WIDTH))

    @property
    def width(self) -> int:
        """Coordinates a group; the input is filled up with zeros."""
        return -(-self.n_features // self.n_groups)

    @property
    def signs(self) -> NDArray[np.int8]:
        """The diagonal of S (g·width,)."""
        return random_signs(self.seed, self.role, self.n_groups * self.width)

    @property
    def transform(self) -> NDArray[np.float64]:
        """C (g, g), the orthonormal cosine transform."""
        place = np.arange(self.n_groups)
        waves = np.cos(np.pi * (2 * place + 1) * place[:, None] / (2 * self.n_groups))
        return waves * np.where(place[:, None] == 0, math.sqrt(1 / self.n_groups), math.sqrt(2 / self.n_groups))

    @property
    def entries(self) -> NDArray[np.int16]:
        """R_1 … R_g as whole numbers (g, width, outputs a group); times `scale` they are R's."""
        return bell_shaped(self.seed, self.role, self.n_groups, self.width, -(-self.n_outputs // self.n_groups))

    @property
    def scale(self) -> float:
        """What gives an output the variance ‖x‖², as N(0, 1) entries do: a group has 1/g of the energy."""
        return math.sqrt(self.n_groups) / DEVIATION

    def linear(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return xR (n, m)."""
        filled = np.pad(x, ((0, 0), (0, self.n_groups * self.width - self.n_features))) * self.signs
        mixed = self.transform.astype(x.dtype) @ filled.reshape(len(x), self.n_groups, self.width)
        outputs = mixed.transpose(1, 0, 2) @ (self.entries * self.scale).astype(x.dtype)
        return np.ascontiguousarray(outputs.transpose(1, 0, 2)).reshape(len(x), -1)[:, : self.n_outputs]
