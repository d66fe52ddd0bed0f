"""What values a parameter may have, and whether it may change once learned: declared as data, checked in one place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

from anacp.errors import ParameterError


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
        if not self.accepts(value):
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


def count() -> Constraint:
    """Return the range of whole numbers from 1."""
    return Constraint("a positive integer", lambda value: _is_whole(value) and value > 0)


def whole(least: int | None = None) -> Constraint:
    """Return the range of whole numbers, from `least` if given."""
    expected = "an integer" if least is None else f"an integer ≥ {least}"
    return Constraint(expected, lambda value: _is_whole(value) and (least is None or value >= least))


def number(expected: str, within: Callable[[float], bool]) -> Constraint:
    """Return the range of numbers for which something holds."""
    return Constraint(expected, lambda value: isinstance(value, Real) and bool(within(float(value))))


def choice(*choices: object) -> Constraint:
    """Return the range of a few values."""
    return Constraint("one of " + ", ".join(map(repr, choices)), lambda value: value in choices)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


POSITIVE = number("a positive number", lambda value: 0 < value < float("inf"))
NOT_NEGATIVE = number("a number ≥ 0", lambda value: 0 <= value < float("inf"))
