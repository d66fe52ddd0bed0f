"""Accuracy over the tasks, and over what it costs; every method is named beside the figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anacp.reports.figures.style import Style, calm, new_figure, spread, styles
from anacp.words import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Cost:
    """One method's point."""

    title: str
    seconds: float
    accuracy: float
    state_bytes: float


def accuracy_curves(
    curves: Mapping[str, Sequence[float]],
    n_classes: Sequence[int],
    *,
    title: str,
    deviations: Mapping[str, Sequence[float]] | None = None,
    bounds: Mapping[str, float] | None = None,
    looks: Mapping[str, Style] | None = None,
    horizontal: str = "classes learned so far",
    limits: tuple[float, float] | None = None,
) -> "Figure":
    """Draw accuracy over the number of classes seen, one line a method, each named at its end.

    With `deviations`, a band of one standard deviation around each line. `bounds` are accuracies of methods that
    learned everything at once, drawn as level lines. `limits` are the ends of the axis of accuracies.
    """
    bounds = bounds or {}
    looks = looks or styles([*curves, *bounds])
    figure = new_figure(7, 4 if len(curves) + len(bounds) <= 8 else 5.5)
    axes = figure.add_subplot()
    for name, accuracies in curves.items():
        look = looks[name]
        line: dict[str, Any] = {"linestyle": look.line, "linewidth": look.width, "markersize": 3 + look.width}
        axes.plot(n_classes, accuracies, **line, **look.drawn)
        if deviations:
            low, high = (np.add(accuracies, sign * np.asarray(deviations[name])) for sign in (-1, 1))
            axes.fill_between(n_classes, low, high, color=look.colour, alpha=0.15, linewidth=0)
    for name, accuracy in bounds.items():
        axes.axhline(accuracy, color=looks[name].colour, linewidth=1.2, linestyle=looks[name].line)
    axes.set(title=title, xlabel=horizontal, ylabel="accuracy on all of them (%)", xticks=n_classes)
    axes.margins(x=0.02)
    if limits is not None:
        axes.set_ylim(*limits)
    calm(axes)
    ends = {name: accuracies[-1] for name, accuracies in curves.items()} | dict(bounds)
    points = {f"{name} {end:.1f}": (n_classes[-1], end, looks[name].colour) for name, end in ends.items()}
    _name_beside(axes, points, start=1.06, lines=24)
    return figure


def cost_against_accuracy(costs: Sequence[Cost], looks: Mapping[str, Style], *, title: str) -> "Figure":
    """Draw accuracy over seconds of learning (log axis); the area of a marker grows with the size of the model."""
    figure = new_figure(7, 4.4)
    axes = figure.add_subplot()
    largest = max(cost.state_bytes for cost in costs) or 1
    for cost in costs:
        area = 30 + 370 * cost.state_bytes / largest
        axes.scatter(cost.seconds, cost.accuracy, s=area, alpha=0.8, linewidths=0, **looks[cost.title].drawn)
    axes.set(
        xscale="log",
        title=title,
        xlabel="seconds of learning, all tasks together",
        ylabel="accuracy after the last task (%)",
    )
    axes.margins(x=0.12, y=0.14)
    _plain_ticks(axes)
    calm(axes, grid="both")
    points = {
        f"{cost.title}, {format_bytes(cost.state_bytes)}": (cost.seconds, cost.accuracy, looks[cost.title].colour)
        for cost in costs
    }
    _name_beside(axes, points, start=1.02, lines=22)
    return figure


def _name_beside(axes: "Axes", points: Mapping[str, tuple[float, float, str]], *, start: float, lines: int) -> None:
    """Write names right of the figure, which has room for so many lines; a faint line leads to each point (x, y)."""
    low, high = axes.get_ylim()
    heights = spread([y for _, y, _ in points.values()], gap=(high - low) / lines, ceiling=high)
    for (name, (x, y, colour)), height in zip(points.items(), heights, strict=True):
        leader = {"arrowstyle": "-", "color": colour, "alpha": 0.4, "linewidth": 0.8, "relpos": (0, 0.5), "shrinkB": 0}
        axes.annotate(
            name,
            (x, y),
            xytext=(start, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=colour,
            fontsize=9,
            fontweight="bold",
            arrowprops=leader,
        )


def _plain_ticks(axes: "Axes") -> None:
    """Write 0.5 instead of powers of ten, with more ticks the narrower the range, and room between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    subdivisions = (1, 2, 5) if high / low < 2000 else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=subdivisions if high / low > 8 else (1, 1.5, 2, 3, 5, 7)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
