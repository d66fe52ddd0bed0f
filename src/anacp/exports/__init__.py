"""A solved model as one ONNX graph, which predicts without this package and without torch."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.exports.deviation import TOLERANCE, Deviation
    from anacp.exports.exporting import Exported, export

__all__ = ["TOLERANCE", "Deviation", "Exported", "export"]

__getattr__ = door(__name__)
