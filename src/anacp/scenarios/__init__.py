"""Which classes come when. Indices and labels only, no data."""

from anacp.scenarios.base import SCENARIOS, Scenario, Task, from_description
from anacp.scenarios.blurry import Blurry
from anacp.scenarios.class_incremental import ClassIncremental
from anacp.scenarios.domain_incremental import DomainIncremental
from anacp.scenarios.online import Online
from anacp.scenarios.ordering import ORDERS

__all__ = [
    "ORDERS",
    "SCENARIOS",
    "Blurry",
    "ClassIncremental",
    "DomainIncremental",
    "Online",
    "Scenario",
    "Task",
    "from_description",
]
