"""Whole numbers on the command line."""

from anacp.errors import ParameterError

__all__ = ["numbers"]


def numbers(listed: str) -> list[int]:
    """Return whole numbers from a list such as 0,1,2."""
    try:
        return [int(number) for number in listed.split(",")]
    except ValueError as problem:
        raise ParameterError(f"Expected whole numbers separated by commas, such as 0,1,2, got {listed!r}.") from problem
