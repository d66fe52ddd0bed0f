"""Running learners through scenarios. Yields facts and prints nothing."""

from anacp.experiments.comparison import Progress, Row, Run, compare, rows
from anacp.experiments.runner import Step, accuracy_matrix, run

__all__ = ["Progress", "Row", "Run", "Step", "accuracy_matrix", "compare", "rows", "run"]
