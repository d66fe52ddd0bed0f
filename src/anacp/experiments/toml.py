"""Tables to TOML: the standard library reads it and does not write it."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from anacp.errors import ParameterError

__all__ = ["to_toml"]


def to_toml(table: Mapping[str, Any]) -> str:
    """Return a document that tomllib reads back as the same table: plain values first, then the tables in it."""
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
