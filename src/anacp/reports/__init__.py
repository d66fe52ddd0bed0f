"""Pictures of results. Read results, never run anything."""

from anacp.reports.figures import accuracy_curves, accuracy_heat_map

__all__ = ["accuracy_curves", "accuracy_heat_map"]
