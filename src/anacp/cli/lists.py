"""Lists on the command line, separated by commas."""

from __future__ import annotations

from anacp import methods
from anacp.errors import ParameterError


def names(listed: str) -> list[str]:
    """Return the names in a list such as NCM,AnaCP."""
    return [name.strip() for name in listed.split(",") if name.strip()]


def named_methods(listed: str) -> list[tuple[str, str | None]]:
    """Return names of methods, those from a file of one's own with the file."""
    named: list[tuple[str, str | None]] = []
    for entry in names(listed):
        named += [(name, entry) for name in methods.methods_in(entry)] if entry.endswith(".py") else [(entry, None)]
    return named


def numbers(listed: str) -> list[int]:
    """Return whole numbers from a list such as 0,1,2."""
    try:
        return [int(number) for number in listed.split(",")]
    except ValueError as problem:
        raise ParameterError(f"Expected whole numbers separated by commas, such as 0,1,2, got {listed!r}.") from problem
