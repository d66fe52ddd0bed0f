"""Tables, figures and pages of results. Read results, never run anything."""

from anacp.reports.figures import accuracy_curves, accuracy_heat_map, confusion_map
from anacp.reports.write import markdown, report

__all__ = ["accuracy_curves", "accuracy_heat_map", "confusion_map", "markdown", "report"]
