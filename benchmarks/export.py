"""What `anacp export` writes: size at the paper's setting, and how far the file is from the library on real features.

    .venv/bin/python benchmarks/export.py [FEATURES.npz]

FEATURES.npz (xtr, ytr, xte, yte) is measured beside the embedded samples.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

import anacp
from anacp.exports import TOLERANCE
from measuring import Row, printed, row

MOST_BYTES = 10e6
LEAST_EQUAL = 99.9


def rows(features: Path | None = None) -> list[Row]:
    """Return one row a figure."""
    measured = [_size()]
    for name, data in _data(features):
        measured += _deviations(name, *data)
    return measured


def _size() -> Row:
    """The file's size does not depend on how many rows were learned."""
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(200), 2)
    x = generator.normal(size=(200, 768))[y] + 0.5 * generator.normal(size=(400, 768))
    with tempfile.TemporaryDirectory() as folder:
        written = anacp.export(anacp.AnaCP().partial_fit(x, y), Path(folder) / "model.onnx")
    return row("ONNX file", "MB", written.n_bytes / 1e6, at_most=MOST_BYTES / 1e6, setting="C=200 d=768 D=5000 H=3")


def _data(features: Path | None) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name in ("clinc150", "cifar100"):
        sample = anacp.load_sample(name)
        yield name, (sample.x_train, sample.y_train, sample.x_test)
    if features is not None:
        with np.load(features) as held:
            yield features.stem, (held["xtr"].astype(np.float32), held["ytr"], held["xte"].astype(np.float32))


def _deviations(name: str, x: Any, y: Any, unseen: Any) -> Iterator[Row]:
    model = anacp.AnaCP().partial_fit(x, y)
    scores, probabilities = model.scores(unseen), model.predict_proba(unseen)
    for exact in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            written = anacp.export(model, Path(folder) / "model.onnx", exact=exact)
            session = onnxruntime.InferenceSession(str(written.path), providers=["CPUExecutionProvider"])
            answer = session.run(["scores", "probabilities"], {"features": unseen})
        setting = f"{name}, {'float32' if exact else '12 bits'}, {len(unseen):,} test rows"
        equal = 100 * float((answer[0].argmax(1) == scores.argmax(1)).mean())
        yield row("size of the file", "MB", written.n_bytes / 1e6, setting=setting)
        furthest = float(np.abs(answer[0] - scores).max())
        yield row("largest difference of a score", "", furthest, at_most=TOLERANCE, setting=setting)
        furthest = float(np.abs(answer[1] - probabilities).max())
        yield row("largest difference of a probability", "", furthest, at_most=TOLERANCE, setting=setting)
        yield row("equal answers", "%", equal, at_least=LEAST_EQUAL, setting=setting)


if __name__ == "__main__":
    printed(rows(*map(Path, sys.argv[1:2])))
