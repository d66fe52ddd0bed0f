"""What a header may say, as data: a kind of value for each name, checked in one place."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

LARGEST = 2**31 - 1  # of whole numbers


@dataclass(frozen=True)
class Fact:
    """The values that a fact may have."""

    expected: str
    accepts: Callable[[Any], bool]

    def problem(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        return None if self.accepts(value) else f"{name} is {shown(value)}, not {self.expected}"

    @classmethod
    def text(cls) -> Self:
        """Return the fact that is a text."""
        return cls("a text", lambda value: isinstance(value, str))

    @classmethod
    def name(cls, most: int = 200) -> Self:
        """Return the fact that is a text of one line, and not long."""
        return cls("a name", lambda value: isinstance(value, str) and value.isprintable() and 0 < len(value) <= most)

    @classmethod
    def flag(cls) -> Self:
        """Return the fact that is true or false."""
        return cls("true or false", lambda value: isinstance(value, bool))

    @classmethod
    def whole(cls, least: int = -LARGEST, most: int = LARGEST) -> Self:
        """Return the fact that is an integer within bounds."""
        return cls(f"an integer from {least} to {most}", lambda value: _is_whole(value) and least <= value <= most)

    @classmethod
    def number(cls, *, above: float) -> Self:
        """Return the fact that is a finite number, and greater than another."""
        return cls(f"a number above {above:g}", lambda value: _is_number(value) and value > above)

    @classmethod
    def share(cls) -> Self:
        """Return the fact that is a finite number, 0 or more."""
        return cls("a number of at least 0", lambda value: _is_number(value) and value >= 0)

    @classmethod
    def record(cls) -> Self:
        """Return the fact that is a record of anything."""
        return cls("a record", lambda value: isinstance(value, dict))

    @classmethod
    def one_of(cls, *values: str) -> Self:
        """Return the fact that is one of a few texts."""
        return cls(f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values)

    @property
    def or_nothing(self) -> "Fact":
        """The same, which may be left open."""
        return Fact(f"{self.expected} or nothing", lambda value: value is None or self.accepts(value))

    @property
    def several(self) -> "Fact":
        """Any number of the same."""
        return Fact(
            f"a list, each of them {self.expected}",
            lambda value: isinstance(value, list) and all(map(self.accepts, value)),
        )


@dataclass(frozen=True)
class Record:
    """Facts by their names: those that must be there, those that may, and no others."""

    required: Mapping[str, "Fact | Record"]
    optional: Mapping[str, "Fact | Record"] = field(default_factory=dict)

    def __or__(self, other: "Record") -> "Record":
        return Record({**self.required, **other.required}, {**self.optional, **other.optional})

    @property
    def several(self) -> Fact:
        """Any number of the same."""
        return Fact(
            "a list of such records",
            lambda value: isinstance(value, list) and all(self.problem("", one) is None for one in value),
        )

    def problem(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        if not isinstance(value, dict):
            return f"{name} is {shown(value)}, not a record"
        known = {**self.required, **self.optional}
        for key in (*self.required, *value):
            whole = f"{name}.{key}" if name else key
            if key not in value:
                return f"{whole} is missing"
            if key not in known:
                return f"{shown(whole)} is unknown"
            found = known[key].problem(whole, value[key])
            if found is not None:
                return found
        return None


def shown_names(names: Sequence[str]) -> str:
    """Return a few names, short enough for one line."""
    return ", ".join(map(shown, names[:3])) + (", …" if len(names) > 3 else "")


def shown(value: Any) -> str:
    """Return a value as messages show it: escaped, and no longer than is of use."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a record"
    if _is_whole(value) and abs(value) > 10**20:
        return "a number of many digits"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    if _is_whole(value):
        return bool(abs(value) <= LARGEST)
    return isinstance(value, float) and math.isfinite(value)
