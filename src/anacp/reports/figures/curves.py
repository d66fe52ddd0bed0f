"""Accuracy over the tasks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from anacp.reports.figures.style import Style, calm, leader, new_figure, spread, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy_curves"]


def accuracy_curves(
    curves: Mapping[str, Sequence[float]],
    n_classes: Sequence[int],
    *,
    title: str,
    deviations: Mapping[str, Sequence[float]] | None = None,
    bounds: Mapping[str, float] | None = None,
    looks: Mapping[str, Style] | None = None,
    horizontal: str = "classes learned so far",
) -> "Figure":
    """Draw accuracy over the number of classes seen, one line a method, each named at its end.

    With `deviations`, a band of one standard deviation around each line. `bounds` are accuracies of methods that
    learned everything at once, drawn as level lines.
    """
    bounds = bounds or {}
    looks = looks or styles([*curves, *bounds])
    figure = new_figure(7, 4 if len(curves) + len(bounds) <= 8 else 5.5)
    axes = figure.add_subplot()
    for name, accuracies in curves.items():
        look = looks[name]
        axes.plot(
            n_classes,
            accuracies,
            color=look.colour,
            marker=look.marker,
            markersize=4.5,
            linewidth=1.6,
            linestyle=look.line,
        )
        if deviations:
            low, high = (np.add(accuracies, sign * np.asarray(deviations[name])) for sign in (-1, 1))
            axes.fill_between(n_classes, low, high, color=look.colour, alpha=0.15, linewidth=0)
    for name, accuracy in bounds.items():
        axes.axhline(accuracy, color=looks[name].colour, linewidth=1.2, linestyle=(0, (6, 2, 1, 2)))
    axes.set(title=title, xlabel=horizontal, ylabel="accuracy on all of them (%)", xticks=n_classes)
    axes.margins(x=0.02)
    calm(axes)
    ends = {name: accuracies[-1] for name, accuracies in curves.items()} | dict(bounds)
    _name_at_the_end(axes, ends, n_classes[-1], looks)
    return figure


def _name_at_the_end(axes: "Axes", ends: Mapping[str, float], last: int, looks: Mapping[str, Style]) -> None:
    low, high = axes.get_ylim()
    heights = spread(list(ends.values()), gap=(high - low) / 24, ceiling=high)
    for (name, accuracy), height in zip(ends.items(), heights, strict=True):
        axes.annotate(
            f"{name} {accuracy:.1f}",
            (last, accuracy),
            xytext=(1.06, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=looks[name].colour,
            fontsize=9,
            fontweight="bold",
            arrowprops=leader(looks[name]),
        )
