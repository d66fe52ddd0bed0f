"""How far long work is, told to whoever wants to know."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "Report"]


@dataclass(frozen=True)
class Progress:
    """What is being done, and how much of it is done."""

    words: str
    done: float
    total: float
    skipped: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.done / self.total if self.total else 1.0


Report = Callable[[Progress], None]
