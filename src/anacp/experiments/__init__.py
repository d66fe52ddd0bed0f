"""Experiments: methods through scenarios, on disk and to be resumed. Yields facts and prints nothing.

Names are imported on first use: reading results needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anacp.experiments.comparison import Row, rows
    from anacp.experiments.events import Event, Failed, Finished, Stepped, Working
    from anacp.experiments.expansion import expand, specifications
    from anacp.experiments.material import Materials
    from anacp.experiments.results import Confused, RunResult, Step, load_runs
    from anacp.experiments.runner import run
    from anacp.experiments.scenario_settings import ScenarioSettings
    from anacp.experiments.specification import Specification
    from anacp.experiments.steps import Judged, accuracy_matrix, follow
    from anacp.experiments.sweeping import Status, sweep

__all__ = [
    "Confused",
    "Event",
    "Failed",
    "Finished",
    "Judged",
    "Materials",
    "Row",
    "RunResult",
    "ScenarioSettings",
    "Specification",
    "Status",
    "Step",
    "Stepped",
    "Working",
    "accuracy_matrix",
    "expand",
    "follow",
    "load_runs",
    "rows",
    "run",
    "specifications",
    "sweep",
]

_HOMES = {
    "comparison": ("Row", "rows"),
    "events": ("Event", "Failed", "Finished", "Stepped", "Working"),
    "expansion": ("expand", "specifications"),
    "material": ("Materials",),
    "results": ("Confused", "RunResult", "Step", "load_runs"),
    "runner": ("run",),
    "scenario_settings": ("ScenarioSettings",),
    "specification": ("Specification",),
    "steps": ("Judged", "accuracy_matrix", "follow"),
    "sweeping": ("Status", "sweep"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"anacp.experiments.{home}"), name)
    raise AttributeError(f"module 'anacp.experiments' has no attribute {name!r}")
