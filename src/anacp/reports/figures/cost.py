"""What accuracy costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anacp.learners.summary import format_bytes
from anacp.reports.figures.style import Style, calm, leader, new_figure, spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Cost", "cost_against_accuracy"]


@dataclass(frozen=True)
class Cost:
    """One method's point."""

    title: str
    seconds: float
    accuracy: float
    state_bytes: float


def _plain_ticks(axes: "Axes") -> None:
    """Write 0.5 instead of powers of ten, with more ticks the narrower the range, and room between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    subdivisions = (1, 2, 5) if high / low < 2000 else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=subdivisions if high / low > 8 else (1, 1.5, 2, 3, 5, 7)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def cost_against_accuracy(costs: Sequence[Cost], looks: "Mapping[str, Style]", *, title: str) -> "Figure":
    """Draw accuracy over seconds of learning (log axis); the area of a marker grows with the size of the model."""
    figure = new_figure(7, 4.4)
    axes = figure.add_subplot()
    largest = max(cost.state_bytes for cost in costs) or 1
    for cost in costs:
        look = looks[cost.title]
        area = 30 + 370 * cost.state_bytes / largest
        axes.scatter(
            cost.seconds, cost.accuracy, s=area, color=look.colour, marker=look.marker, alpha=0.8, linewidths=0
        )
    axes.set(
        xscale="log",
        title=title,
        xlabel="seconds of learning, all tasks together",
        ylabel="accuracy after the last task (%)",
    )
    axes.margins(x=0.12, y=0.14)
    _plain_ticks(axes)
    calm(axes, grid="both")
    low, high = axes.get_ylim()
    heights = spread([cost.accuracy for cost in costs], gap=(high - low) / 22, ceiling=high)
    for cost, height in zip(costs, heights, strict=True):
        axes.annotate(
            f"{cost.title}, {format_bytes(cost.state_bytes)}",
            (cost.seconds, cost.accuracy),
            xytext=(1.02, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=looks[cost.title].colour,
            fontsize=9,
            fontweight="bold",
            arrowprops=leader(looks[cost.title]),
        )
    return figure
