"""Tables as a person writes them: checked, every complaint with its place, and written in TOML."""

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from anacp.errors import ParameterError
from anacp.names import nearest

Kind = tuple[type, ...]

NAMES: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
NAMES |= {list: "a list", dict: "a table"}


def check_table(
    table: object, kinds: Mapping[str, Kind], place: str = "", *, needed: Collection[str] = ()
) -> dict[str, Any]:
    """Return the table if it has what is needed, no key but these, and every value is of a kind that its key takes."""
    if not isinstance(table, Mapping):
        raise ParameterError(f"{place}: expected a table of settings, got {table!r}.")
    for key, value in table.items():
        if key not in kinds:
            raise ParameterError(f"{_at(place, key)}: {_suggestion(key, kinds)}")
        if not _is(value, kinds[key]):
            wanted = " or ".join(NAMES[kind] for kind in kinds[key])
            raise ParameterError(f"{_at(place, key)}: expected {wanted}, got {value!r}.")
    for key in needed:
        if key not in table:
            raise ParameterError(f"{_at(place, key)}: expected one, got none.")
    return dict(table)


def check_choice(value: str, choices: Collection[str], place: str) -> None:
    """Refuse what is not among the choices."""
    if value not in choices:
        raise ParameterError(f"{place}: unknown {value!r}, {_suggestion(value, choices)}")


def _suggestion(name: str, known: Collection[str]) -> str:
    """Return "did you mean ...?", if something is near, and all that is known."""
    near = nearest(name, known)
    return (f"did you mean {near!r}? " if near else "no such setting. ") + f"Known: {', '.join(known) or 'none'}."


def _at(place: str, key: str) -> str:
    return f"{place} {key}" if place else key


def _is(value: object, kinds: Kind) -> bool:
    if isinstance(value, bool):  # which Python counts among the whole numbers
        return bool in kinds
    return isinstance(value, kinds) or (isinstance(value, int) and float in kinds)


def to_toml(table: Mapping[str, Any]) -> str:
    """Return a document that tomllib, which does not write, reads back: plain values first, then the tables in it."""
    return "\n".join(_lines(table, "")).lstrip("\n") + "\n"


def _lines(table: Mapping[str, Any], name: str) -> list[str]:
    plain = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if not isinstance(value, Mapping)]
    lines = ["", f"[{name}]", *plain] if name and (plain or not table) else plain
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _lines(value, f"{name}.{_key(key)}" if name else _key(key))
    return lines


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):  # JSON escapes as TOML does, but leaves the delete character alone
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise ParameterError(
        f"Expected text, numbers, true or false, and lists of these, got {value!r} ({type(value).__name__}). "
        "Leave out what has no value."
    )
