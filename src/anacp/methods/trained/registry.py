"""The trained methods by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, TypeVar

from anacp.errors import UnknownNameError

if TYPE_CHECKING:
    from anacp.methods.trained.base import TrainedMethod

__all__ = ["TRAINED", "register", "trained"]

TRAINED: dict[str, type[TrainedMethod]] = {}
M = TypeVar("M", bound="type[TrainedMethod]")


def register(cls: M) -> M:
    """Class decorator: make a method known by its class name to files, the runner and the contract tests."""
    TRAINED[cls.__name__] = cls
    return cls


def trained(name: str) -> type[TrainedMethod]:
    """Return the class of that name, whatever its capitals; a near miss is answered with the right name."""
    by_folded = {known.casefold(): cls for known, cls in TRAINED.items()}
    folded = name.casefold().replace("-", "").replace("_", "")
    if folded in by_folded:
        return by_folded[folded]
    near = difflib.get_close_matches(folded, by_folded, n=1)
    hint = f"Did you mean {by_folded[near[0]].__name__!r}? " if near else ""
    raise UnknownNameError(f"Unknown trained method {name!r}. {hint}Known: {', '.join(sorted(TRAINED))}.")
