"""Where a data set comes from, under which terms, and what it should contain."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

__all__ = ["Card"]


@dataclass(frozen=True)
class Card:
    """What to know before using a data set."""

    name: str
    title: str
    modality: str
    split: str  # how training and test rows were told apart
    n_classes: int | None = None  # None where it depends on the user's own data
    sizes: Mapping[str, int] = field(default_factory=dict)  # as published
    licence: str = "not stated"
    citation: str = "not stated"
    home: str = "not stated"
    checksums: Mapping[str, str] = field(default_factory=dict)  # file: MD5, where one is known for certain
    backbone: str | None = None  # what made the features, where that is known

    def as_dict(self) -> dict[str, object]:
        """Return the card ready for JSON."""
        return {**asdict(self), "sizes": dict(self.sizes), "checksums": dict(self.checksums) or "not published"}
