"""What happens while experiments run, for whoever shows it."""

from dataclasses import dataclass

from anacp.experiments.results import RunResult, Step
from anacp.experiments.specification import Specification


@dataclass(frozen=True)
class Working:
    """How far something is that takes long within a step: features, adaptation, training."""

    specification: Specification
    words: str
    share: float  # from 0 to 1


@dataclass(frozen=True)
class Stepped:
    """A task was learned and judged; the line is on disk."""

    specification: Specification
    step: Step
    n_steps: int  # of the whole run


@dataclass(frozen=True, eq=False)
class Finished:
    """A run is complete on disk."""

    specification: Specification
    result: RunResult
    reused: bool  # it was complete before


@dataclass(frozen=True)
class Failed:
    """A run ended with an error; what it had finished is kept."""

    specification: Specification
    error: str


Event = Working | Stepped | Finished | Failed
