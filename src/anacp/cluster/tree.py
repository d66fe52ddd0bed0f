"""The fixed tree in which the sums of shards are added: the same whatever the nodes, the order and the faults.

A range [start, stop) of shards is the sum of its two halves, the left one as large a power of two as there is below its
length. So the sum of all shards is one formula of additions, and floating-point numbers come out the same to the bit.
"""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """Shards from start up to stop, which is not among them."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def halves(self) -> tuple[Range, Range]:
        """The two ranges whose sum this is."""
        middle = self.start + (1 << (len(self) - 1).bit_length() - 1)
        return Range(self.start, middle), Range(middle, self.stop)

    def holds(self, other: Range) -> bool:
        """Say whether all of another range is inside."""
        return self.start <= other.start and other.stop <= self.stop


def leaf(number: int) -> Range:
    """Return the range of one shard."""
    return Range(number, number + 1)


def parent(one: Range, n_shards: int) -> Range | None:
    """Return the range that this is a half of; None for the whole."""
    above = Range(0, n_shards)
    if one == above:
        return None
    while True:
        left, right = above.halves
        if one in (left, right):
            return above
        above = left if left.holds(one) else right


def branches(n_shards: int, at_least: int) -> list[Range]:
    """Return ranges of the tree, in order, that are all of it: about so many, each for one node to work at."""
    found = [Range(0, n_shards)]
    while len(found) < at_least and max(map(len, found)) > 1:
        longest = max(map(len, found))
        found = [part for one in found for part in (one.halves if len(one) == longest else (one,))]
    return found
