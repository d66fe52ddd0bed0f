"""The learners by name: a dictionary with manners."""

import difflib
from typing import TypeVar

from anacp.errors import UnknownNameError
from anacp.learners.base import Learner

__all__ = ["LEARNERS", "learner", "register"]

LEARNERS: dict[str, type[Learner]] = {}
L = TypeVar("L", bound=type[Learner])


def register(cls: L) -> L:
    """Class decorator: make a learner known by its class name to files, the command line and the contract tests."""
    LEARNERS[cls.__name__] = cls
    return cls


def learner(name: str) -> type[Learner]:
    """Return the learner class of that name, whatever its capitals; a near miss is answered with the right name."""
    by_folded = {known.casefold(): cls for known, cls in LEARNERS.items()}
    if name.casefold() in by_folded:
        return by_folded[name.casefold()]
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    hint = f"Did you mean {by_folded[near[0]].__name__!r}? " if near else ""
    raise UnknownNameError(f"Unknown learner {name!r}. {hint}Known: {', '.join(sorted(LEARNERS))}.")
