"""Features of features by NumPy alone, for whoever cannot wait for torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.projections.structure import Structure

Array = NDArray[Any]


def plain_projection(parameters: Mapping[str, Any], n_features: int, role: str) -> Callable[[Array], Array] | None:
    """Return the random features φ(xR) of a learner with these parameters, or None if only torch can draw R.

    Entries of a normal distribution come from torch's generator; those of a structured projection from a hash.
    """
    if parameters.get("projection") != "structured":
        return None
    structure = Structure(n_features, parameters["n_projected"], parameters["random_state"], role)
    activate = PLAIN_ACTIVATIONS[parameters["activation"]]
    return lambda x: activate(structure.linear(x))


def erf(x: Array) -> Array:
    """Return the error function to 1.5e-7: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26."""
    size = abs(np.asarray(x, np.float64))
    t = 1 / (1 + 0.3275911 * size)
    polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.copysign(1 - polynomial * np.exp(-size * size), x)


def gelu(x: Array) -> Array:
    """Return x Φ(x), with the normal distribution function Φ."""
    return np.asarray(0.5 * x * (1 + erf(x / 2**0.5)), x.dtype)


PLAIN_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu": gelu,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "identity": lambda x: x,
}
