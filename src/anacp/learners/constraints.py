"""What values a parameter may have, and whether it may change once learned: declared as data, checked in one place."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

from anacp.errors import ParameterError

LARGEST_COUNT = 2**31 - 1  # a size that no machine can hold is refused as a parameter, not by running out of memory
LARGEST_ENSEMBLE = 10_000  # members, heads and the like, each with statistics of its own


@dataclass(frozen=True)
class Constraint:
    """The range of one parameter."""

    expected: str
    accepts: Callable[[Any], bool]
    may_change: Callable[[Any, Any], bool] = lambda before, now: False  # from one value to the other, once learned

    @property
    def solving(self) -> Self:
        """The same for a parameter that enters when solving only: it may change at any time."""
        return replace(self, may_change=lambda before, now: True)

    def check(self, name: str, value: Any) -> None:
        """Refuse a value outside the range."""
        try:
            accepted = self.accepts(value)
        except (TypeError, ValueError, OverflowError):  # of a kind that cannot be compared
            accepted = False
        if not accepted:
            raise ParameterError(f"Expected {name} to be {self.expected}, got {value!r}.")


def check_parameters(
    constraints: Mapping[str, Constraint], now: Mapping[str, Any], before: Mapping[str, Any] | None
) -> None:
    """Refuse what is outside its range, and what has changed since `before` although it may not."""
    for name, constraint in constraints.items():
        constraint.check(name, now[name])
    if before is None:
        return
    free = {name: one.may_change for name, one in constraints.items()}
    changed = [name for name in now if now[name] != before[name]]
    fixed = [name for name in changed if name not in free or not free[name](before[name], now[name])]
    if fixed:
        may = sorted(name for name in free if free[name](before[name], before[name]))
        raise ParameterError(
            f"Expected {', '.join(fixed)} as when learning began, got another value. What was learned depends on it: "
            f"set it back, or call `fit`. Parameters that may change: {', '.join(may) or 'none'}."
        )


def count(most: int = LARGEST_COUNT) -> Constraint:
    """Return the range of whole numbers from 1."""
    expected = "a positive integer" if most == LARGEST_COUNT else f"a positive integer ≤ {most:,}"
    return Constraint(expected, lambda value: _is_whole(value) and 0 < value <= most)


def whole(least: int | None = None, most: int | None = None) -> Constraint:
    """Return the range of whole numbers, from `least` to `most` if given."""
    bounds = [f"≥ {least}" if least is not None else "", f"≤ {most:,}" if most is not None else ""]
    expected = " ".join(["an integer", " and ".join(filter(None, bounds))]).strip()
    low, high = least if least is not None else -math.inf, most if most is not None else math.inf
    return Constraint(expected, lambda value: _is_whole(value) and low <= value <= high)


def number(expected: str, within: Callable[[float], bool]) -> Constraint:
    """Return the range of numbers for which something holds."""
    return Constraint(expected, lambda value: is_number(value) and bool(within(float(value))))


def choice(*choices: object) -> Constraint:
    """Return the range of a few values."""
    return Constraint("one of " + ", ".join(map(repr, choices)), lambda value: value in choices)


def is_number(value: Any) -> bool:
    """Say whether a value is a number, and not an integer that torch cannot take."""
    return isinstance(value, Real) and not (isinstance(value, Integral) and abs(int(value)) >= 2**63)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


POSITIVE = number("a positive number", lambda value: 0 < value < float("inf"))
NOT_NEGATIVE = number("a number ≥ 0", lambda value: 0 <= value < float("inf"))
