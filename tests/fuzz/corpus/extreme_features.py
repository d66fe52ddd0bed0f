"""NCM at 10²⁰ called `b` `a`, and LoRanPAC gave NaN for probabilities at 10³⁷."""

from pathlib import Path

import numpy as np

import anacp
from anacp.errors import AnacpError
from anacp.testing import blobs
from tests.contract.every_learner import every_learner


def check(folder: Path) -> None:
    x, y = blobs(n_classes=2, n_rows=20, n_features=6)
    labels = np.array(["a", "b"])[y]
    near = anacp.NCM().partial_fit(x, labels).predict(x)
    for learner in every_learner():
        for scale in (1e20, 1e30, 1e37):
            try:
                model = type(learner)(**learner.get_params()).partial_fit(x * scale, labels)
                said, sure = model.predict(x * scale), model.predict_proba(x * scale)
            except AnacpError:
                continue  # refused, in words
            assert np.isfinite(sure).all(), f"{learner} at {scale:g}: no probabilities"
            if isinstance(model, anacp.NCM):
                assert (said == near).all(), f"NCM at {scale:g}: other labels"
