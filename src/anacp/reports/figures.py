"""Figures in one calm, colour-blind-safe style."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anacp.errors import AnacpError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["accuracy_curves", "accuracy_heat_map", "new_figure"]

# Okabe and Ito's palette, told apart under every common colour blindness; its yellow darkened to be read as text.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6D00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":")


def accuracy_curves(
    curves: Mapping[str, Sequence[float]],
    n_classes: Sequence[int],
    *,
    title: str,
    deviations: Mapping[str, Sequence[float]] | None = None,
) -> "Figure":
    """Draw accuracy over the number of classes seen, one line a method, each named at its end.

    With `deviations`, a band of one standard deviation around each line.
    """
    figure = new_figure(7, 4 if len(curves) <= 8 else 5.5)
    axes = figure.add_subplot()
    for index, (name, accuracies) in enumerate(curves.items()):
        style = LINES[index // len(COLOURS) % len(LINES)]
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        axes.plot(n_classes, accuracies, color=colour, marker=marker, markersize=4.5, linewidth=1.6, linestyle=style)
        if deviations:
            low, high = (np.add(accuracies, sign * np.asarray(deviations[name])) for sign in (-1, 1))
            axes.fill_between(n_classes, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(title=title, xlabel="classes learned so far", ylabel="accuracy on all of them (%)", xticks=n_classes)
    axes.margins(x=0.02)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    low, high = axes.get_ylim()
    heights = spread([accuracies[-1] for accuracies in curves.values()], gap=(high - low) / 24)
    for index, ((name, accuracies), height) in enumerate(zip(curves.items(), heights, strict=True)):
        axes.annotate(
            f"{name} {accuracies[-1]:.1f}",
            (n_classes[-1], accuracies[-1]),
            xytext=(1.02, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=COLOURS[index % len(COLOURS)],
            fontsize=9,
            fontweight="bold",
        )
    return figure


def spread(heights: Sequence[float], *, gap: float) -> list[float]:
    """Move heights apart, as little as it takes, until neighbours are at least `gap` apart; their order stays."""
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
    return moved


def accuracy_heat_map(matrix: NDArray[np.float64], *, title: str) -> "Figure":
    """Draw A[t, i], the accuracy on task i after learning task t."""
    figure = new_figure(6.4, 5.4)
    axes = figure.add_subplot()
    n_tasks = len(matrix)
    image = axes.imshow(matrix, cmap="viridis")
    middle = (np.nanmin(matrix) + np.nanmax(matrix)) / 2
    for t in range(n_tasks):
        for i in range(t + 1):
            shade = "white" if matrix[t, i] < middle else "black"
            axes.text(i, t, f"{matrix[t, i]:.0f}", ha="center", va="center", color=shade, fontsize=8)
    numbers = [str(t) for t in range(1, n_tasks + 1)]
    axes.set_xticks(range(n_tasks), labels=numbers)
    axes.set_yticks(range(n_tasks), labels=numbers)
    axes.set(title=title, xlabel="accuracy on task", ylabel="after learning task")
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="%", shrink=0.8)
    return figure


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this size in inches, or say how to install what draws it."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as problem:
        raise AnacpError("Figures need matplotlib. Install it with: pip install 'anacp[reports]'") from problem
    return Figure(figsize=(width, height), dpi=150, layout="constrained")
