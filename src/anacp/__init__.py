"""A classifier that keeps learning new classes, in seconds, without forgetting and without gradient training.

The public names of the package; each is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anacp.version import __version__

if TYPE_CHECKING:
    from anacp import errors
    from anacp.learners import (
        ELM,
        GACL,
        KLDA,
        NCM,
        SLDA,
        AnaCP,
        FeCAM,
        LinearProbe,
        LoRanPAC,
        RanPAC,
        Ridge,
    )
    from anacp.methods import Classifier, load
    from anacp.samples import load_sample

__all__ = [
    "ELM",
    "GACL",
    "KLDA",
    "NCM",
    "SLDA",
    "AnaCP",
    "Classifier",
    "FeCAM",
    "LinearProbe",
    "LoRanPAC",
    "RanPAC",
    "Ridge",
    "__version__",
    "errors",
    "load",
    "load_sample",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("anacp.errors")
    if name in __all__:
        room = {"load_sample": "samples", "Classifier": "methods", "load": "methods"}.get(name, "learners")
        return getattr(import_module(f"anacp.{room}"), name)
    raise AttributeError(f"module 'anacp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
