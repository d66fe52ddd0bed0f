"""The accuracy matrix, and the metrics that are functions of it."""

from anacp.evaluation.calibration import expected_calibration_error
from anacp.evaluation.matrix import average_incremental_accuracy, forgetting, last_accuracy

__all__ = ["average_incremental_accuracy", "expected_calibration_error", "forgetting", "last_accuracy"]
