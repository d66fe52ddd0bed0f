"""Shards: the rows of each part cut at fixed places, so that a shard means the same in every attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anacp.cluster.reading import Described

# One block of rows that enters the statistics at once; what the loss of a process costs.
ROWS = 4096


@dataclass(frozen=True)
class Shard:
    """Rows from start up to stop of one part."""

    number: int
    place: str
    mark: str  # of the part
    start: int
    stop: int
    first: int  # the position of its first row among all rows of all parts

    def __len__(self) -> int:
        return self.stop - self.start

    def __str__(self) -> str:
        return f"rows {self.start + 1:,} to {self.stop:,} of {self.place}"


def cut(parts: Sequence[Described], rows: int = ROWS) -> list[Shard]:
    """Return the shards of all parts, numbered in order; none reaches from one part into the next."""
    shards: list[Shard] = []
    first = 0
    for part in parts:
        n = len(part.codes)
        for start in range(0, n, rows):
            stop = min(start + rows, n)
            shards.append(Shard(len(shards), part.place, part.mark, start, stop, first + start))
        first += n
    return shards
