from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anacp.reports import accuracy_curves
from anacp.reports.figures.style import spread


@given(st.lists(st.floats(0, 100), min_size=1, max_size=15))
def test_labels_are_spread_in_order(heights: list[float]) -> None:
    moved = spread(heights, gap=3.0)
    order = sorted(range(len(heights)), key=lambda i: moved[i])
    assert all(moved[b] - moved[a] >= 3.0 - 1e-6 for a, b in pairwise(order))
    assert all(heights[a] <= heights[b] for a, b in pairwise(order))
    assert sum(moved) == pytest.approx(sum(heights), abs=1e-6)


def test_more_methods_than_colours(tmp_path) -> None:
    curves = {f"method {i}": [90 - i, 80 - i] for i in range(13)}
    deviations = {name: [1.0, 1.0] for name in curves}
    figure = accuracy_curves(curves, [10, 20], title="many", deviations=deviations)
    lines = figure.axes[0].lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 13
    figure.savefig(tmp_path / "many.png")
