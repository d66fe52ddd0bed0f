"""One calm, colour-blind-safe style for every figure, which greyscale does not spoil."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anacp.errors import AnacpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Style", "calm", "leader", "new_figure", "spread", "styles"]

# Okabe and Ito's palette, told apart under every common colour blindness; its yellow darkened to be read as text.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6D00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":")
HATCHES = ("", "///", "...")


@dataclass(frozen=True)
class Style:
    """How one method looks in every figure; marker, line and hatch tell it apart where colour does not."""

    colour: str
    marker: str
    line: str
    hatch: str


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each name; the first twenty-four differ."""

    def style(index: int) -> Style:
        turn = index // len(COLOURS)
        return Style(
            COLOURS[index % len(COLOURS)],
            MARKERS[(index + turn) % len(MARKERS)],
            LINES[turn % len(LINES)],
            HATCHES[turn % len(HATCHES)],
        )

    return {name: style(index) for index, name in enumerate(dict.fromkeys(names))}


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this size in inches, or say how to install what draws it."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as problem:
        raise AnacpError("Figures need matplotlib. Install it with: pip install 'anacp[reports]'") from problem
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def calm(axes: "Axes", *, grid: Literal["both", "x", "y"] = "y") -> None:
    """Leave two spines and a faint grid behind the data."""
    axes.grid(axis=grid, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def leader(look: Style) -> dict[str, Any]:
    """Return how a line leads from a point to the left end of its name."""
    return {"arrowstyle": "-", "color": look.colour, "alpha": 0.4, "linewidth": 0.8, "relpos": (0, 0.5), "shrinkB": 0}


def spread(heights: "Sequence[float]", *, gap: float, ceiling: float = math.inf) -> list[float]:
    """Move heights apart, as little as it takes, until neighbours are at least `gap` apart; their order stays.

    What would stand above the ceiling is pushed down.
    """
    order = np.argsort(heights, kind="stable")
    groups: list[list[int]] = []

    def middle(group: list[int]) -> float:
        return float(np.mean([heights[i] for i in group]))

    def overlap(below: list[int], above: list[int]) -> bool:
        return middle(above) - middle(below) < gap * (len(below) + len(above)) / 2

    for i in order.tolist():
        groups.append([i])
        while len(groups) > 1 and overlap(groups[-2], groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = list(heights)
    for group in groups:
        for place, i in enumerate(group):
            moved[i] = middle(group) + gap * (place - (len(group) - 1) / 2)
    for place, i in enumerate(reversed(order.tolist())):
        moved[i] = min(moved[i], ceiling - gap * place)
    return moved
