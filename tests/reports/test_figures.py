from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from anacp.reports import accuracy_curves
from anacp.reports.figures import Cost, accuracy_heat_maps, cost_against_accuracy, forgetting_bars, styles
from anacp.reports.figures.style import spread


@given(st.lists(st.floats(0, 100), min_size=1, max_size=15))
def test_labels_are_spread_in_order(heights: list[float]) -> None:
    moved = spread(heights, gap=3.0)
    order = sorted(range(len(heights)), key=lambda i: moved[i])
    assert all(moved[b] - moved[a] >= 3.0 - 1e-6 for a, b in pairwise(order))
    assert all(heights[a] <= heights[b] for a, b in pairwise(order))
    assert sum(moved) == pytest.approx(sum(heights), abs=1e-6)
    low = spread(heights, gap=3.0, ceiling=60.0)
    assert max(low) <= 60.0
    assert sorted(range(len(low)), key=lambda i: low[i]) == order
    assert all(low[b] - low[a] >= 3.0 - 1e-6 for a, b in pairwise(order))


def test_more_methods_than_colours(tmp_path) -> None:
    curves = {f"method {i}": [90 - i, 80 - i] for i in range(13)}
    deviations = {name: [1.0, 1.0] for name in curves}
    figure = accuracy_curves(curves, [10, 20], title="many", deviations=deviations)
    lines = figure.axes[0].lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 13
    figure.savefig(tmp_path / "many.png")


def test_a_method_looks_the_same_in_every_figure() -> None:
    looks = styles(["other", "AnaCP"])
    colour = looks["AnaCP"].colour
    curves = accuracy_curves({"AnaCP": [90.0, 80.0]}, [1, 2], title="", looks=looks)
    cost = cost_against_accuracy([Cost("AnaCP", 1.0, 80.0, 1e6)], looks, title="")
    bars = forgetting_bars({"forgetting": {"AnaCP": (1.0, 0.1)}}, looks)
    assert curves.axes[0].lines[0].get_color() == colour
    assert to_hex(cost.axes[0].collections[0].get_facecolor()[0]).upper() == colour
    assert to_hex(bars.axes[0].patches[0].get_facecolor()).upper() == colour


def test_without_colour_methods_still_differ() -> None:
    looks = styles(f"method {i}" for i in range(24))
    assert len({(look.marker, look.line) for look in looks.values()}) == 24


def test_a_bound_is_a_level_line() -> None:
    figure = accuracy_curves({"a": [90.0, 80.0]}, [1, 2], title="", bounds={"joint": 95.0})
    assert list(figure.axes[0].lines[1].get_ydata()) == [95.0, 95.0]
    assert figure.axes[0].get_ylim()[1] > 95


def test_heat_maps_share_a_scale_and_leave_the_future_blank() -> None:
    early, late = np.array([[90.0, np.nan], [80.0, 70.0]]), np.array([[99.0, np.nan], [98.0, 97.0]])
    figure = accuracy_heat_maps({"early": early, "late": late})
    assert {axes.images[0].get_clim() for axes in figure.axes[:2]} == {(70.0, 99.0)}
    assert [text.get_text() for text in figure.axes[0].texts] == ["90", "80", "70"]
