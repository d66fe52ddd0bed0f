"""A classifier that keeps learning new classes, in seconds, without forgetting and without gradient training.

The public names of the package; each is imported on first use.
"""

from typing import TYPE_CHECKING

from anacp import errors
from anacp.doors import door
from anacp.version import __version__

if TYPE_CHECKING:
    from anacp.exports import export
    from anacp.learners import (
        ELM,
        GACL,
        KLDA,
        NCM,
        SLDA,
        AnaCP,
        AveragedAnaCP,
        FeCAM,
        LinearProbe,
        LoRanPAC,
        RanPAC,
        Ridge,
    )
    from anacp.methods import Classifier, Predictor, load
    from anacp.samples import load_sample

__all__ = [
    "ELM",
    "GACL",
    "KLDA",
    "NCM",
    "SLDA",
    "AnaCP",
    "AveragedAnaCP",
    "Classifier",
    "FeCAM",
    "LinearProbe",
    "LoRanPAC",
    "Predictor",
    "RanPAC",
    "Ridge",
    "__version__",
    "errors",
    "export",
    "load",
    "load_sample",
]

__getattr__ = door(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
