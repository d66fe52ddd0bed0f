"""The accuracy matrix and the metrics that are functions of it, calibration, and confusion."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.evaluation.calibration import expected_calibration_error
    from anacp.evaluation.confusion import ClassResult, class_results, confusion_matrix
    from anacp.evaluation.matrix import average_incremental_accuracy, backward_transfer, forgetting, last_accuracy
    from anacp.evaluation.wrong_answers import Mistake, mistakes

__all__ = [
    "ClassResult",
    "Mistake",
    "average_incremental_accuracy",
    "backward_transfer",
    "class_results",
    "confusion_matrix",
    "expected_calibration_error",
    "forgetting",
    "last_accuracy",
    "mistakes",
]

__getattr__ = door(__name__)
