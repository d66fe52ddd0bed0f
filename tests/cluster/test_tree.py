"""The fixed tree of sums."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anacp.cluster.tree import Range, branches, leaf, parent

SIZES = st.integers(1, 600)


def below(one: Range) -> list[Range]:
    return [one] if len(one) == 1 else [one, *(part for half in one.halves for part in below(half))]


@given(SIZES)
def test_halves_make_up_their_sum_and_know_it(n: int) -> None:
    every = below(Range(0, n))
    assert [one for one in every if len(one) == 1] == [leaf(number) for number in range(n)]
    for one in every:
        if len(one) > 1:
            left, right = one.halves
            assert (left.start, left.stop, right.stop) == (one.start, right.start, one.stop)
            assert len(left) & (len(left) - 1) == 0  # a power of two: more shards at the end leave it as it is
            assert len(left) >= len(right) > 0
            assert parent(left, n) == parent(right, n) == one
    assert parent(Range(0, n), n) is None


@given(SIZES, st.integers(1, 40))
def test_branches_are_all_of_the_tree_in_order(n: int, at_least: int) -> None:
    found = branches(n, at_least)
    assert found[0].start == 0
    assert found[-1].stop == n
    assert all(one.stop == other.start for one, other in pairwise(found))
    assert set(found) <= set(below(Range(0, n)))
    assert len(found) >= min(at_least, n)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_a_range_holds_what_is_inside(n: int) -> None:
    whole = Range(0, n)
    assert all(whole.holds(one) for one in below(whole))
    assert not leaf(n).holds(leaf(0))
