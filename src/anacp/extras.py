"""Packages that only some data sets need, imported when they do."""

from importlib import import_module
from typing import Any

from anacp.errors import UnavailableError

__all__ = ["require"]


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import an optional package, or say which extra of anacp brings it."""
    try:
        return import_module(module)
    except ImportError as problem:
        raise UnavailableError(
            f"{purpose} needs the package {module.split('.')[0]!r}, which is not installed ({problem}). "
            f"Install it with `pip install 'anacp[{extra}]'`."
        ) from problem
