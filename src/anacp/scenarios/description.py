"""From a description in a result back to the scenario that it came from."""

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from anacp.errors import ParameterError, UnknownNameError
from anacp.scenarios.base import Scenario

__all__ = ["SCENARIOS", "from_description", "register"]

SCENARIOS: dict[str, type[Scenario]] = {}
S = TypeVar("S", bound=type[Scenario])


def register(cls: S) -> S:
    """Class decorator: make a scenario known by its kind to descriptions and to the tests of the laws."""
    SCENARIOS[cls.kind] = cls
    return cls


def from_description(description: Mapping[str, Any]) -> Scenario:
    """Return the scenario whose `describe()` gave this, also after a trip through JSON."""
    kind = str(description.get("scenario", ""))
    if kind not in SCENARIOS:
        near = difflib.get_close_matches(kind, SCENARIOS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UnknownNameError(f"Unknown scenario {kind!r}. {hint}Known: {', '.join(sorted(SCENARIOS))}.")
    settings = {key: value for key, value in description.items() if key != "scenario"}
    if "base" in settings:
        settings["base"] = from_description(settings["base"])
    try:
        return SCENARIOS[kind](**settings)
    except TypeError as problem:
        raise ParameterError(
            f"Expected the settings of a {kind} scenario as `describe()` gives them, got {', '.join(settings)} "
            f"({problem})."
        ) from problem
