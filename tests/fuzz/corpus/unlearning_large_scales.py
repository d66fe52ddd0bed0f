"""A batch of scale 3,000, added and taken away, cost GACL 7 points without a word; larger ones were fatal for good."""

from pathlib import Path

import anacp
from anacp.errors import AnacpError
from anacp.testing import assert_same, blobs


def check(folder: Path) -> None:
    x, y = blobs(n_classes=5, n_rows=30, n_features=8)
    for make in (
        lambda: anacp.GACL(n_projected=60, ridge=100.0),
        lambda: anacp.RanPAC(n_projected=60),
        lambda: anacp.NCM(),
        lambda: anacp.SLDA(),
    ):
        for scale in (3e3, 3e6, 3e12, 1e-12):
            model, never = make().partial_fit(x, y), make().partial_fit(x, y)
            try:
                model.partial_fit(x[:20] * scale, y[:20])
                model.unlearn(x[:20] * scale, y[:20])
            except AnacpError:
                continue  # refused, in words
            assert_same(model, never, x[:20])
