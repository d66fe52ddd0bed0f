"""Experiments: methods through scenarios, on disk and to be resumed. Yields facts and prints nothing.

Names are imported on first use: reading results needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anacp.experiments.comparison import Progress, Row, Run, compare, rows
    from anacp.experiments.results import Confused, RunResult, load_runs
    from anacp.experiments.runner import Step, accuracy_matrix, run

__all__ = [
    "Confused",
    "Progress",
    "Row",
    "Run",
    "RunResult",
    "Step",
    "accuracy_matrix",
    "compare",
    "load_runs",
    "rows",
    "run",
]

_HOMES = {
    "comparison": ("Progress", "Row", "Run", "compare", "rows"),
    "results": ("Confused", "RunResult", "load_runs"),
    "runner": ("Step", "accuracy_matrix", "run"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"anacp.experiments.{home}"), name)
    raise AttributeError(f"module 'anacp.experiments' has no attribute {name!r}")
