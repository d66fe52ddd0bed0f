"""Heat maps: the accuracy matrix, and which class is taken for which."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anacp.reports.figures.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Beyond these, numbers and names would be too small to read.
MOST_TASKS, MOST_CLASSES, MOST_NAMED = 20, 25, 150


def accuracy_heat_map(matrix: NDArray[np.float64], *, title: str) -> "Figure":
    """Draw A[t, i], the accuracy on task i after learning task t."""
    return _side_by_side(new_figure(6.4, 5.4), {title: matrix})


def accuracy_heat_maps(matrices: Mapping[str, NDArray[np.float64]]) -> "Figure":
    """Draw several accuracy matrices beside one another, on one scale."""
    return _side_by_side(new_figure(5 * len(matrices) + 0.8, 4.6), matrices)


def _side_by_side(figure: "Figure", matrices: Mapping[str, NDArray[np.float64]]) -> "Figure":
    every = np.concatenate([matrix.ravel() for matrix in matrices.values()])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    places = figure.subplots(1, len(matrices), squeeze=False)[0]
    for axes, (title, matrix) in zip(places, matrices.items(), strict=True):
        image = axes.imshow(matrix, cmap="viridis", vmin=low, vmax=high)
        n_steps, n_tasks = matrix.shape
        if n_tasks <= MOST_TASKS:
            _write_numbers(axes, matrix, ~np.isnan(matrix), middle=(low + high) / 2, size=8)
            axes.set_xticks(range(n_tasks), labels=[str(i + 1) for i in range(n_tasks)])
            axes.set_yticks(range(n_steps), labels=[str(t + 1) for t in range(n_steps)])
        axes.set(title=title, xlabel="accuracy on task", ylabel="after learning task")
        axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=list(places), label="%", shrink=0.8)
    return figure


def confusion_map(matrix: NDArray[np.int64], classes: Sequence[Any], *, title: str) -> "Figure":
    """Draw what share of each class (row) was taken for which class (column), in per cent."""
    n = len(classes)
    side = min(max(4.5, 2 + 0.14 * n), 20)
    figure = new_figure(side + 0.8, side)
    axes = figure.add_subplot()
    shares = 100 * matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    image = axes.imshow(shares, cmap="viridis", vmin=0, vmax=100)
    if n <= MOST_CLASSES:
        _write_numbers(axes, shares, matrix, middle=50, size=7)
    if n <= MOST_NAMED:
        names = [str(label) for label in classes]
        size = 8 if n <= MOST_CLASSES else 6
        axes.set_xticks(range(n), labels=names, rotation=90, fontsize=size)
        axes.set_yticks(range(n), labels=names, fontsize=size)
    axes.set(title=title, xlabel="taken for", ylabel="class")
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="% of the class", shrink=0.8)
    return figure


def _write_numbers(axes: Any, values: NDArray[np.float64], shown: NDArray[Any], *, middle: float, size: int) -> None:
    for i, j in np.argwhere(shown).tolist():
        shade = "white" if values[i, j] < middle else "black"
        axes.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center", color=shade, fontsize=size)
