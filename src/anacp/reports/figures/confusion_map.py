"""The picture of which class is taken for which."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anacp.reports.figures.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["confusion_map"]

# Beyond these, numbers and names would be too small to read.
MOST_NUMBERED = 25
MOST_NAMED = 150


def confusion_map(matrix: NDArray[np.int64], classes: Sequence[Any], *, title: str) -> "Figure":
    """Draw what share of each class (row) was taken for which class (column), in per cent."""
    n = len(classes)
    side = min(max(4.5, 2 + 0.14 * n), 20)
    figure = new_figure(side + 0.8, side)
    axes = figure.add_subplot()
    shares = 100 * matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    image = axes.imshow(shares, cmap="viridis", vmin=0, vmax=100)
    if n <= MOST_NUMBERED:
        for i, j in np.argwhere(matrix).tolist():
            shade = "white" if shares[i, j] < 50 else "black"
            axes.text(j, i, f"{shares[i, j]:.0f}", ha="center", va="center", color=shade, fontsize=7)
    if n <= MOST_NAMED:
        names = [str(label) for label in classes]
        size = 8 if n <= MOST_NUMBERED else 6
        axes.set_xticks(range(n), labels=names, rotation=90, fontsize=size)
        axes.set_yticks(range(n), labels=names, fontsize=size)
    axes.set(title=title, xlabel="taken for", ylabel="class")
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="% of the class", shrink=0.8)
    return figure
