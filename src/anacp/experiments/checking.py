"""Tables as a person writes them, checked: every complaint names the place and, for a near miss, the right word."""

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from anacp.errors import ParameterError

__all__ = ["Kind", "check_choice", "check_table", "suggestion"]

Kind = tuple[type, ...]

NAMES: dict[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def check_table(table: object, kinds: Mapping[str, Kind], place: str) -> dict[str, Any]:
    """Return the table if it has no key but these and every value is of a kind that its key takes."""
    if not isinstance(table, Mapping):
        raise ParameterError(f"{place}: expected a table of settings, got {table!r}.")
    for key, value in table.items():
        if key not in kinds:
            raise ParameterError(f"{_at(place, key)}: {suggestion(key, kinds)}")
        if not _is(value, kinds[key]):
            wanted = " or ".join(NAMES[kind] for kind in kinds[key])
            raise ParameterError(f"{_at(place, key)}: expected {wanted}, got {value!r}.")
    return dict(table)


def check_choice(value: str, choices: Collection[str], place: str) -> None:
    """Refuse what is not among the choices."""
    if value not in choices:
        raise ParameterError(f"{place}: unknown {value!r}, {suggestion(value, choices)}")


def suggestion(name: str, known: Collection[str]) -> str:
    """Return "did you mean ...?", if something is near, and all that is known."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return (f"did you mean {near[0]!r}? " if near else "no such setting. ") + f"Known: {', '.join(known) or 'none'}."


def _at(place: str, key: str) -> str:
    return f"{place} {key}" if place else key


def _is(value: object, kinds: Kind) -> bool:
    if isinstance(value, bool):  # which Python counts among the whole numbers
        return bool in kinds
    return isinstance(value, kinds) or (isinstance(value, int) and float in kinds)
