"""Unlearning examples of which none was held out for choosing the ridge ended in a raw ValueError."""

from pathlib import Path

import anacp
from anacp.testing import blobs


def check(folder: Path) -> None:
    x, y = blobs(n_classes=3, n_rows=20, n_features=6)
    for row in range(len(x)):
        model = anacp.ELM(n_projected=12, ridge="accuracy", normalize=False).partial_fit(x, y)
        model.unlearn(x[row : row + 1], y[row : row + 1])
