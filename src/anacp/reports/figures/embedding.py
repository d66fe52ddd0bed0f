"""The features before and after the projection, flattened to two dimensions (the paper's Figure 1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from anacp.reports.figures.style import class_styles, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAGES = {"input": "input features", "random": "random features", "projected": "after the projection"}
MOST_NAMED = 12
MOST_DRAWN = 3000  # beyond, points are drawn as pixels: as shapes they would make a page of many megabytes


def embedding_panels(embedding: Mapping[str, Any]) -> "Figure":
    """Draw one panel for each stage, one colour and marker a class; t-SNE's axes have no unit."""
    stages = {name: title for name, title in STAGES.items() if name in embedding["stages"]}
    figure = new_figure(3.4 * len(stages), 3.9)
    labels = np.asarray(embedding["labels"])
    names = [str(name) for name in embedding["classes"]]
    looks = class_styles(len(names))
    for axes, (stage, title) in zip(figure.subplots(1, len(stages), squeeze=False)[0], stages.items(), strict=True):
        points = np.asarray(embedding["stages"][stage], float)  # (n, 2)
        for index, name in enumerate(names):
            look = {"color": looks[index].colour, "marker": looks[index].marker, "alpha": 0.75, "linewidths": 0}
            axes.scatter(*points[labels == index].T, s=10, label=name, rasterized=len(points) > MOST_DRAWN, **look)
        axes.set(title=title, xticks=[], yticks=[], aspect="auto")
        axes.spines[:].set_color("#bbbbbb")
    if len(names) <= MOST_NAMED:
        handles, shown = figure.axes[0].get_legend_handles_labels()
        layout = {"ncols": min(len(names), 6), "frameon": False, "fontsize": 8, "markerscale": 2}
        figure.legend(handles, shown, loc="outside lower center", **layout)
    return figure
