"""The accuracy matrix as a heat map."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anacp.reports.figures.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["accuracy_heat_map", "accuracy_heat_maps"]

MOST_NUMBERED = 20  # beyond, numbers would be too small to read


def accuracy_heat_map(matrix: NDArray[np.float64], *, title: str) -> "Figure":
    """Draw A[t, i], the accuracy on task i after learning task t."""
    figure = new_figure(6.4, 5.4)
    image = _draw(figure.add_subplot(), matrix, title, float(np.nanmin(matrix)), float(np.nanmax(matrix)))
    figure.colorbar(image, ax=figure.axes[0], label="%", shrink=0.8)
    return figure


def accuracy_heat_maps(matrices: Mapping[str, NDArray[np.float64]]) -> "Figure":
    """Draw several accuracy matrices beside one another, on one scale."""
    figure = new_figure(5 * len(matrices) + 0.8, 4.6)
    every = np.concatenate([matrix.ravel() for matrix in matrices.values()])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    axes = figure.subplots(1, len(matrices), squeeze=False)[0]
    images = [
        _draw(place, matrix, title, low, high) for place, (title, matrix) in zip(axes, matrices.items(), strict=True)
    ]
    figure.colorbar(images[0], ax=list(axes), label="%", shrink=0.8)
    return figure


def _draw(axes: Any, matrix: NDArray[np.float64], title: str, low: float, high: float) -> Any:
    image = axes.imshow(matrix, cmap="viridis", vmin=low, vmax=high)
    n_steps, n_tasks = matrix.shape
    if n_tasks <= MOST_NUMBERED:
        for t, i in np.argwhere(~np.isnan(matrix)).tolist():
            shade = "white" if matrix[t, i] < (low + high) / 2 else "black"
            axes.text(i, t, f"{matrix[t, i]:.0f}", ha="center", va="center", color=shade, fontsize=8)
        axes.set_xticks(range(n_tasks), labels=[str(i + 1) for i in range(n_tasks)])
        axes.set_yticks(range(n_steps), labels=[str(t + 1) for t in range(n_steps)])
    axes.set(title=title, xlabel="accuracy on task", ylabel="after learning task")
    axes.spines[:].set_visible(False)
    return image
