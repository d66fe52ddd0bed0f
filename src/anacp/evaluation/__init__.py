"""The accuracy matrix and the metrics that are functions of it, calibration, confusion, and what is unknown."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.evaluation.calibration import expected_calibration_error
    from anacp.evaluation.confusion import ClassResult, class_results, confusion_matrix
    from anacp.evaluation.matrix import average_incremental_accuracy, backward_transfer, forgetting, last_accuracy
    from anacp.evaluation.unknown import accuracy_with_rejection, auroc, false_positive_rate
    from anacp.evaluation.wrong_answers import Mistake, mistakes

__all__ = [
    "ClassResult",
    "Mistake",
    "accuracy_with_rejection",
    "auroc",
    "average_incremental_accuracy",
    "backward_transfer",
    "class_results",
    "confusion_matrix",
    "expected_calibration_error",
    "false_positive_rate",
    "forgetting",
    "last_accuracy",
    "mistakes",
]

__getattr__ = door(__name__)
