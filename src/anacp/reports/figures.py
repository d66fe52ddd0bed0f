"""Figures in one calm, colour-blind-safe style."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anacp.errors import AnacpError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["accuracy_curves", "accuracy_heat_map"]

# Okabe and Ito's palette, told apart under every common colour blindness.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def accuracy_curves(curves: Mapping[str, Sequence[float]], n_classes: Sequence[int], *, title: str) -> "Figure":
    """Draw accuracy over the number of classes seen, one line a learner, each named at its end."""
    figure = _figure(7, 4)
    axes = figure.add_subplot()
    for (name, accuracies), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
        axes.plot(n_classes, accuracies, color=colour, marker=marker, markersize=5, linewidth=1.8)
        axes.annotate(
            f"{name} {accuracies[-1]:.1f}",
            (n_classes[-1], accuracies[-1]),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
        )
    axes.set(title=title, xlabel="classes learned so far", ylabel="accuracy on all of them (%)", xticks=n_classes)
    axes.margins(x=0.02)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def accuracy_heat_map(matrix: NDArray[np.float64], *, title: str) -> "Figure":
    """Draw A[t, i], the accuracy on task i after learning task t."""
    figure = _figure(6.4, 5.4)
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


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as problem:
        raise AnacpError("Figures need matplotlib. Install it with: pip install 'anacp[reports]'") from problem
    return Figure(figsize=(width, height), dpi=150, layout="constrained")
