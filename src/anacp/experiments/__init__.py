"""Experiments: methods through scenarios, on disk and to be resumed. Yields facts and prints nothing.

Names are imported on first use: reading results needs no torch.
"""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.experiments.comparison import ComparedMethod, compared, quickest
    from anacp.experiments.events import Event, Failed, Finished, Stepped, Working
    from anacp.experiments.expansion import expand, specifications
    from anacp.experiments.material import Materials, needs
    from anacp.experiments.planning import PlannedTable, plan
    from anacp.experiments.results import Confused, LeftOut, RunResult, Step, load_runs
    from anacp.experiments.runner import run
    from anacp.experiments.scenario_settings import ScenarioSettings
    from anacp.experiments.specification import Specification
    from anacp.experiments.steps import Judged, accuracy_matrix, follow
    from anacp.experiments.sweeping import Status, sweep
    from anacp.experiments.workers import attempt

__all__ = [
    "ComparedMethod",
    "Confused",
    "Event",
    "Failed",
    "Finished",
    "Judged",
    "LeftOut",
    "Materials",
    "PlannedTable",
    "RunResult",
    "ScenarioSettings",
    "Specification",
    "Status",
    "Step",
    "Stepped",
    "Working",
    "accuracy_matrix",
    "attempt",
    "compared",
    "expand",
    "follow",
    "load_runs",
    "needs",
    "plan",
    "quickest",
    "run",
    "specifications",
    "sweep",
]

__getattr__ = door(__name__)
