"""Horizontal bars: forgetting beside backward transfer, and the pairs of classes that are confused most."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from anacp.reports.figures.style import BLUE, Style, calm, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def forgetting_bars(panels: Mapping[str, Mapping[str, tuple[float, float]]], looks: Mapping[str, Style]) -> "Figure":
    """Draw one panel for each metric, one bar a method, with its deviation; zero is a line to compare with."""
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    figure = new_figure(8, 1.2 + 0.3 * len(names))
    whiskers = {"elinewidth": 1, "capsize": 2}
    places = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, panel) in zip(places, panels.items(), strict=True):
        for name, (value, deviation) in panel.items():
            look = {"color": looks[name].colour, "hatch": looks[name].hatch, "edgecolor": "white"}
            axes.barh(names.index(name), value, xerr=deviation or None, error_kw=whiskers, **look)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set(title=title, xlabel="percentage points", yticks=range(len(names)))
        axes.set_yticklabels(names)
        calm(axes, grid="x")
    figure.axes[0].invert_yaxis()
    return figure


def confused_bars(pairs: Sequence[tuple[str, str, int, int]], *, title: str) -> "Figure":
    """Draw what share of a class was taken for another, the worst first."""
    figure = new_figure(7, 1.2 + 0.28 * len(pairs))
    axes = figure.add_subplot()
    shares = [100 * count / n for _, _, count, n in pairs]
    places = np.arange(len(pairs))
    axes.barh(places, shares, color=BLUE)
    for place, share, (_, _, count, n) in zip(places.tolist(), shares, pairs, strict=True):
        axes.annotate(
            f"{count} of {n}", (share, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.set_yticks(places, labels=[f"{true} → {predicted}" for true, predicted, _, _ in pairs], fontsize=8)
    axes.set(title=title, xlabel="% of the class taken for the other")
    axes.margins(x=0.12)
    axes.invert_yaxis()
    calm(axes, grid="x")
    return figure
