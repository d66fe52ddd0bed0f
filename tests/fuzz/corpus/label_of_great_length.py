"""One label of 100,000 characters among 20,000 rows asked for 7.45 GiB."""

from pathlib import Path

import numpy as np

import anacp
from anacp.errors import AnacpError


def check(folder: Path) -> None:
    draw = np.random.default_rng(0)
    labels = [f"class {i % 7}" for i in range(19_999)] + ["x" * 100_000]
    try:
        model = anacp.NCM().partial_fit(draw.normal(size=(20_000, 4)), labels)
        assert len(model.classes_) == 8
        model.predict(draw.normal(size=(20_000, 4)))
    except AnacpError as problem:
        assert len(str(problem)) < 2000, "the message has the whole label"
