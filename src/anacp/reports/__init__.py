"""Pictures of results. Read results, never run anything."""

from anacp.reports.confusion import confusion_map
from anacp.reports.figures import accuracy_curves, accuracy_heat_map

__all__ = ["accuracy_curves", "accuracy_heat_map", "confusion_map"]
