"""Tables, figures and pages of results. Read results, never run anything."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.reports.collection import Collection, collect
    from anacp.reports.figures.accuracies import accuracy_curves
    from anacp.reports.figures.heat_maps import accuracy_heat_map, confusion_map
    from anacp.reports.mistakes_page import MOST_SHOWN, Shown, gallery
    from anacp.reports.write import markdown, report, write_report

__all__ = [
    "MOST_SHOWN",
    "Collection",
    "Shown",
    "accuracy_curves",
    "accuracy_heat_map",
    "collect",
    "confusion_map",
    "gallery",
    "markdown",
    "report",
    "write_report",
]

__getattr__ = door(__name__)
