"""What became of the examples that were given."""

from dataclasses import dataclass, field
from typing import Any

from anacp.features import Entry

__all__ = ["Forgotten", "Learned"]


@dataclass(frozen=True)
class Learned:
    """What `Classifier.learn` did."""

    n_new: int  # examples learned now
    n_known: int  # learned before, or given twice: left out
    new_classes: list[Any]
    skipped: list[tuple[Any, str]] = field(default_factory=list)  # input and reason
    feature_seconds: float = 0.0
    learn_seconds: float = 0.0
    entry: Entry | None = None  # where a feature store keeps the features


@dataclass(frozen=True)
class Forgotten:
    """What `Classifier.forget` did."""

    n_forgotten: int
    n_unknown: int  # given, but not in the model
    lost_classes: list[Any]  # whose last example went
    feature_seconds: float = 0.0
