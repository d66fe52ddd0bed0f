"""Figures of results. matplotlib is imported when the first one is drawn."""

from anacp.reports.figures.bars import confused_bars, forgetting_bars
from anacp.reports.figures.confusion_map import confusion_map
from anacp.reports.figures.cost import Cost, cost_against_accuracy
from anacp.reports.figures.curves import accuracy_curves
from anacp.reports.figures.embedding import embedding_panels
from anacp.reports.figures.matrices import accuracy_heat_map, accuracy_heat_maps
from anacp.reports.figures.style import Style, styles

__all__ = [
    "Cost",
    "Style",
    "accuracy_curves",
    "accuracy_heat_map",
    "accuracy_heat_maps",
    "confused_bars",
    "confusion_map",
    "cost_against_accuracy",
    "embedding_panels",
    "forgetting_bars",
    "styles",
]
