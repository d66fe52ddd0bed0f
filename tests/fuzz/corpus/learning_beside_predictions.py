"""Learning beside predictions lost examples without a word."""

from pathlib import Path

import numpy as np

import anacp
from anacp.testing import assert_same, blobs
from tests.fuzz.corpus._common import at_once


def check(folder: Path) -> None:
    x, y = blobs(n_classes=6, n_rows=50, n_features=8)
    for make in (anacp.NCM, anacp.SLDA, anacp.Ridge, anacp.FeCAM):
        model = make().partial_fit(x[:60], y[:60])

        def learn(start: int, model=model) -> None:
            for row in range(start, 300, 4):
                model.partial_fit(x[row : row + 1], y[row : row + 1])

        def ask(model=model) -> None:
            for _ in range(40):
                model.predict(x[:5])

        problems = at_once(*(lambda start=start: learn(start) for start in range(60, 64)), *[ask] * 4)
        assert not problems, problems[0]
        order = np.argsort(y, kind="stable")
        assert_same(model, make().partial_fit(x[order], y[order]), x[:20])
