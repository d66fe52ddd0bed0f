"""A classifier that keeps learning new classes, in seconds, without forgetting and without gradient training.

The public names of the package; each is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anacp.version import __version__

if TYPE_CHECKING:
    from anacp import errors
    from anacp.learners import NCM, AnaCP, load
    from anacp.samples import load_sample

_HOMES = {
    "AnaCP": "anacp.learners",
    "NCM": "anacp.learners",
    "load": "anacp.learners",
    "load_sample": "anacp.samples",
}

__all__ = ["NCM", "AnaCP", "__version__", "errors", "load", "load_sample"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "errors":
        return import_module("anacp.errors")
    raise AttributeError(f"module 'anacp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
