"""Running learners through scenarios. Yields facts and prints nothing."""

from anacp.experiments.runner import Step, accuracy_matrix, run

__all__ = ["Step", "accuracy_matrix", "run"]
