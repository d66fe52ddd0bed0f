"""The order in which classes (or domains) come: a named choice, because accuracy depends on it."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.errors import ParameterError
from anacp.names import unknown_name

Order = str | Sequence[Any]
ORDERS = ("paper", "seed1993", "alphabetical")


def distinct(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return the sorted distinct values, at least one."""
    found: NDArray[Any] = np.unique(np.asarray(values))
    if not len(found):
        raise ParameterError(f"Expected at least one {what}, got none. Give the labels of the training rows.")
    return found


def arrange(values: NDArray[Any], order: Order, seed: int) -> NDArray[Any]:
    """Return the sorted values in the order of that name, or in the explicit order given.

    "paper" shuffles them with Python's generator of that seed, "seed1993" permutes them with numpy's legacy generator
    of seed 1993 as other toolkits do, "alphabetical" leaves them sorted.
    """
    if not isinstance(order, str):
        return _explicit(values, order)
    if order == "paper":
        positions = list(range(len(values)))
        random.Random(seed).shuffle(positions)
        return values[positions]
    if order == "seed1993":
        # The legacy generator on purpose: results published under this order come from it.
        return values[np.random.RandomState(1993).permutation(len(values))]
    if order == "alphabetical":
        return values
    raise unknown_name("order", order, ORDERS, besides="or an explicit list")


def described(order: Order, seed: int) -> dict[str, object]:
    """Return an order ready for JSON. The seed is left out where the order does not depend on it."""
    if not isinstance(order, str):
        return {"order": np.asarray(order).tolist()}
    return {"order": order, "seed": seed} if order == "paper" else {"order": order}


def _explicit(values: NDArray[Any], order: Sequence[Any]) -> NDArray[Any]:
    listed: NDArray[Any] = np.asarray(order)
    if listed.shape != values.shape or not np.array_equal(np.sort(listed), values):
        known, given = set(values.tolist()), set(listed.ravel().tolist())
        raise ParameterError(
            f"Expected an order that lists each of the {len(values)} labels once, got {listed.size} entries "
            f"(missing {sorted(known - given)[:5]}, unknown {sorted(map(str, given - known))[:5]})."
        )
    return listed.astype(values.dtype)
