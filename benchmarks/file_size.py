"""Model files: how large they are, and what their fewer bits do to accuracies.

    .venv/bin/python benchmarks/file_size.py [--rows 50000] [FEATURES.npz …]

A model that goes on learning: 200 Gaussian classes of 768 features, D = 5000, three heads; and the model of 84 photos
with its solution. Then AnaCP on the CLINC150 sample, and on features given (xtr, ytr, xte, yte). Each time half of the
rows are learned, saved, loaded and learned on, beside a model that was never saved.
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import anacp
from anacp import AnaCP, load_sample
from measuring import Row, printed, row

N_CLASSES, N_FEATURES = 200, 768
# Noise beside class means of deviation one: about four of five rows can be told.
NOISE = 6.0
LARGEST, SMALLEST = 45e6, 6e6  # bytes
MOVED = 0.1  # points of accuracy

Rows = tuple[np.ndarray, np.ndarray]


def rows(features: Iterable[str | Path] = (), n_rows: int = 50_000) -> list[Row]:
    """Return every figure with its bar."""
    return list(_measured(features, n_rows))


def _measured(features: Iterable[str | Path], n_rows: int) -> Iterator[Row]:
    """Yield each figure once it is there: all of them take minutes."""
    random = np.random.default_rng(0)
    means = random.standard_normal((N_CLASSES, N_FEATURES), np.float32)

    def drawn(n: int) -> Rows:
        y = np.arange(n) % N_CLASSES
        return means[y] + NOISE * random.standard_normal((n, N_FEATURES), np.float32), y

    setting = f"C={N_CLASSES} d={N_FEATURES} D=5000 H=3, {n_rows:,} rows"
    yield _photos()
    yield from _compared(setting, drawn(n_rows), drawn(10_000), bar=LARGEST)
    sample = load_sample("clinc150")
    yield from _compared("CLINC150", (sample.x_train, sample.y_train), (sample.x_test, sample.y_test))
    for path in features:
        arrays = np.load(path)
        train, test = ((arrays[f"x{of}"].astype(np.float32), arrays[f"y{of}"]) for of in ("tr", "te"))
        yield from _compared(Path(path).stem, train, test)


def _compared(setting: str, train: Rows, test: Rows, bar: float | None = None) -> list[Row]:
    """Learn half, save, load, and learn the other half; beside a model that stays in memory."""
    order = np.random.default_rng(1).permutation(len(train[0]))
    halves = [(train[0][part], train[1][part]) for part in np.array_split(order, 2)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.anacp"
        exact = AnaCP().partial_fit(*halves[0])
        exact.save(path)
        learned_on = anacp.load(path)
        for model in (exact, learned_on):
            model.partial_fit(*halves[1])
        exact.save(path)
        size, loaded = path.stat().st_size, anacp.load(path)
        answers = [model.predict(test[0]) for model in (exact, loaded, learned_on)]
        exact.save(path, exact=True, solution=False)
        whole = path.stat().st_size
    accuracies = [100 * float((given == test[1]).mean()) for given in answers]
    equal = [100 * float((given == answers[0]).mean()) for given in answers]
    effect = max(loaded._knowledge.memory.statistics[f"head {h}"].coding.effect for h in range(3))
    noted = f"exact {whole / 1e6:.1f} MB; weights move by about {effect:.3f}"
    return [
        row("size of a file", "MB", size / 1e6, at_most=bar and bar / 1e6, setting=setting, note=noted),
        *(
            row(what, "points", abs(accuracy - accuracies[0]), at_most=MOVED, setting=setting, note=note)
            for what, accuracy, note in (
                ("accuracy, saved and loaded", accuracies[1], _note(accuracies[0], accuracies[1], equal[1])),
                ("accuracy, saved at half, learned on", accuracies[2], _note(accuracies[0], accuracies[2], equal[2])),
            )
        ),
    ]


def _photos() -> Row:
    random = np.random.default_rng(0)
    y = np.arange(84) % 12
    x = random.normal(size=(12, 1280))[y] + random.normal(size=(84, 1280))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.anacp"
        AnaCP().partial_fit(x, y).solve(probabilities=True).save(path)
        size = path.stat().st_size
    setting = "84 rows of 12 classes, d=1280 D=5000 H=3"
    return row("size of a file, solved", "MB", size / 1e6, at_most=SMALLEST / 1e6, setting=setting)


def _note(exact: float, stored: float, equal: float) -> str:
    return f"exact {exact:.2f} %, from the file {stored:.2f} %, {equal:.2f} % equal answers"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", nargs="*", type=Path)
    parser.add_argument("--rows", type=int, default=50_000)
    options = parser.parse_args()
    printed(_measured(options.features, options.rows))


if __name__ == "__main__":
    main()
