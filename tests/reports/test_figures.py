from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from anacp.paper import TABLES
from anacp.reports import accuracy_curves
from anacp.reports.figures.accuracies import Cost, cost_against_accuracy
from anacp.reports.figures.bars import forgetting_bars
from anacp.reports.figures.heat_maps import accuracy_heat_maps
from anacp.reports.figures.style import spread, styles


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


ROWS = list(TABLES["table1"].rows)
OTHERS = st.lists(st.text(min_size=1, max_size=6), max_size=12, unique=True)


@given(OTHERS, st.permutations(ROWS), st.integers(0, len(ROWS)))
def test_a_method_looks_the_same_beside_whomever_it_is_drawn(others: list[str], rows: list[str], n: int) -> None:
    """Any choice of methods in any order, and any names of one's own among them."""
    everywhere = styles(ROWS)
    chosen = styles([*others, *rows[:n]])
    assert all(chosen[row] == everywhere[row] for row in rows[:n])
    assert chosen == {name: styles(reversed([*others, *rows[:n]]))[name] for name in chosen}


def test_rows_of_table_1_are_told_apart_with_and_without_colour() -> None:
    looks = styles(ROWS)
    assert len({(look.marker, look.line) for look in looks.values()}) == len(ROWS)
    own = looks.pop("AnaCP")
    assert own.colour not in {look.colour for look in looks.values()}
    assert all(own.width > look.width and own.above > look.above for look in looks.values())
    level = [looks[row] for row in ROWS if row.startswith("Joint")]  # drawn without markers
    assert not {look.line for look in level} & {look.line for row, look in looks.items() if "Joint" not in row}
    assert len({look.colour for look in level}) == len(level)


def test_names_of_the_same_method_look_alike() -> None:
    for name, row in (("NCM", "SimpleCIL"), ("LinearProbe", "Joint linear probe"), ("CODAPrompt", "CODA-Prompt")):
        assert styles([name])[name] == styles([row])[row]


def test_names_of_ones_own_differ_from_all_methods(tmp_path: Path) -> None:
    own = [f"method {i}" for i in range(13)]
    looks = styles([*own, *ROWS])
    assert len({(look.marker, look.line) for look in looks.values()}) == len(looks)
    assert styles(own)["method 7"] == looks["method 7"]
    curves = {name: [90 - i, 80 - i] for i, name in enumerate(own)}
    figure = accuracy_curves(curves, [10, 20], title="many", deviations={name: [1.0, 1.0] for name in own})
    assert len({(line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines}) == 13
    figure.savefig(tmp_path / "many.png")


def test_a_style_is_the_same_in_every_kind_of_figure() -> None:
    looks = styles(["other", "AnaCP"])
    colour = looks["AnaCP"].colour
    curves = accuracy_curves({"other": [91.0, 81.0], "AnaCP": [90.0, 80.0]}, [1, 2], title="")
    cost = cost_against_accuracy([Cost("AnaCP", 1.0, 80.0, 1e6)], looks, title="")
    bars = forgetting_bars({"forgetting": {"AnaCP": (1.0, 0.1)}}, looks)
    other, own = curves.axes[0].lines
    assert own.get_color() == colour
    assert own.get_zorder() > other.get_zorder()
    assert own.get_linewidth() > other.get_linewidth()
    assert to_hex(cost.axes[0].collections[0].get_facecolor()[0]).upper() == colour
    assert to_hex(bars.axes[0].patches[0].get_facecolor()).upper() == colour


def test_a_bound_is_a_level_line() -> None:
    figure = accuracy_curves({"a": [90.0, 80.0]}, [1, 2], title="", bounds={"joint": 95.0})
    assert list(figure.axes[0].lines[1].get_ydata()) == [95.0, 95.0]
    assert figure.axes[0].get_ylim()[1] > 95


def test_heat_maps_share_a_scale_and_leave_the_future_blank() -> None:
    early, late = np.array([[90.0, np.nan], [80.0, 70.0]]), np.array([[99.0, np.nan], [98.0, 97.0]])
    figure = accuracy_heat_maps({"early": early, "late": late})
    assert {axes.images[0].get_clim() for axes in figure.axes[:2]} == {(70.0, 99.0)}
    assert [text.get_text() for text in figure.axes[0].texts] == ["90", "80", "70"]
