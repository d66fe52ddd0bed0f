"""What a torture found: how much was tried, what was refused in words, and what broke."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

KEPT = 40  # descriptions kept of each kind of failure

Tick = Callable[[int, int], None]  # called with how much is done, and of how much


def silent(done: int, total: int) -> None:
    """Say nothing."""


@dataclass
class Tally:
    """Attempts, refusals and failures of one torture.

    A failure is described in one line from which, with the seed, it can be made again.
    """

    name: str
    unit: str
    attempts: int = 0
    refusals: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""  # why nothing could be tried

    @property
    def n_failures(self) -> int:
        return self.kinds.total()

    def fail(self, kind: str, description: str) -> None:
        self.kinds[kind] += 1
        if self.kinds[kind] <= KEPT:
            self.failures.append(f"{kind}: {description}")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"kinds": dict(self.kinds), "n_failures": self.n_failures}

    @classmethod
    def restored(cls, stated: dict[str, Any]) -> "Tally":
        own = {key: value for key, value in stated.items() if key != "n_failures"}
        return cls(**own | {"kinds": Counter(own["kinds"])})


def one_line(problem: BaseException) -> str:
    """Return an error as it fits into a description."""
    first = (str(problem).splitlines() or [""])[0]
    return f"{type(problem).__name__}: {first[:160]}"
