"""JSON and TOML from outside: of a bounded size, not nested without end, and one error whatever is wrong with them."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anacp.errors import DataFileError
from anacp.files.limits import MAX_DOCUMENT
from anacp.files.regular import read_regular

DEEPEST = 50  # whatever walks through a document calls itself once for each level


def read_json(path: str | Path) -> Any:
    """Return what a JSON file says, or raise a `DataFileError`; `FileNotFoundError` if there is none."""
    return _read(path, "JSON", parse_json)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return what a TOML file says, or raise a `DataFileError`; `FileNotFoundError` if there is none."""
    table: dict[str, Any] = _read(path, "TOML", lambda content: _parsed(tomllib.loads, content.decode()))
    return table


def parse_json(content: str | bytes) -> Any:
    """Return what JSON says, or raise a `ValueError`."""
    return _parsed(json.loads, content)


def _read(path: str | Path, kind: str, parse: Callable[[bytes], Any]) -> Any:
    try:
        return parse(read_regular(path, MAX_DOCUMENT))
    except DataFileError:
        raise
    except ValueError as problem:
        raise DataFileError(
            f"Expected a {kind} file, got one that is truncated or of another kind: {path} ({problem}). Make it anew."
        ) from problem


def _parsed(load: Callable[[Any], Any], content: str | bytes) -> Any:
    MAX_DOCUMENT.check(len(content), "a document")
    try:
        value = load(content)
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep") from None
    within = [value]
    for _ in range(DEEPEST):
        within = [inner for one in within if isinstance(one, dict | list) for inner in _inside(one)]
        if not within:
            return value
    raise ValueError(f"it is nested more than {DEEPEST} levels deep")


def _inside(one: dict[str, Any] | list[Any]) -> list[Any]:
    values = one.values() if isinstance(one, dict) else one
    return [value for value in values if isinstance(value, dict | list)]
