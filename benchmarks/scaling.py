"""How time and what is stored grow with rows, features, random features, classes and tasks.

    .venv/bin/python benchmarks/scaling.py

Each size is changed over a factor of sixteen, the others stay. The slope is that of a line through the logarithms of
the upper half of the sizes, where what grows outweighs what does not; beside it stands the largest exponent that the
formula allows. Prints the table of docs/performance.md.
"""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from anacp import AnaCP
from measuring import median

REPEATS = 3
BASE = {"n": 6000, "d": 256, "D": 1000, "C": 50, "tasks": 4}


def rows_of(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    means = generator.standard_normal((n_classes, d), np.float32)
    y = np.arange(n) % n_classes
    return means[y] + 2 * generator.standard_normal((n, d), np.float32), y


def learned(n: int, d: int, D: int, C: int, tasks: int) -> tuple[AnaCP, float]:
    x, y = rows_of(n, d, C)
    model = AnaCP(n_projected=D)
    start = perf_counter()
    model.partial_fit(x, y)
    model._knowledge.memory = model._knowledge.memory.absorbed()
    return model, perf_counter() - start


def learning(**sizes: int) -> float:
    return learned(**sizes)[1]


def solving(**sizes: int) -> float:
    model, _ = learned(**sizes)
    start = perf_counter()
    model.solve()
    return perf_counter() - start


def predicting(**sizes: int) -> float:
    model, _ = learned(**{**sizes, "n": min(sizes["n"], 3000)})
    x, _ = rows_of(sizes["n"], sizes["d"], sizes["C"])
    model.solve()
    start = perf_counter()
    model.predict(x)
    return perf_counter() - start


def streaming(**sizes: int) -> float:
    """All tasks, of 500 rows and 10 classes each, with a prediction of everything seen after each."""
    x, y = rows_of(500 * sizes["tasks"], sizes["d"], 10 * sizes["tasks"])
    order = np.argsort(y, kind="stable")
    x, y = x[order], y[order]
    model = AnaCP(n_projected=sizes["D"])
    start = perf_counter()
    for task in range(sizes["tasks"]):
        model.partial_fit(x[500 * task : 500 * (task + 1)], y[500 * task : 500 * (task + 1)])
        model.predict(x[: 500 * (task + 1)])
    return perf_counter() - start


def stored(**sizes: int) -> float:
    return sum(part.bytes for part in learned(**sizes)[0].parts()) / 1e6


# what grows, in which sizes, and the largest exponent of its formula
STUDIES: tuple[tuple[str, str, str, Sequence[int], Callable[..., float], float, str], ...] = (
    ("learn", "N", "n", (4000, 8000, 16000, 32000, 64000), learning, 1, "N (d² + H D²/2)"),
    ("predict", "N", "n", (4000, 8000, 16000, 32000, 64000), predicting, 1, "N H D (64 + C)"),
    ("learn", "D", "D", (500, 1000, 2000, 4000, 8000), learning, 2, "N H D²/2"),
    ("solve", "D", "D", (500, 1000, 2000, 4000, 8000), solving, 3, "(H + 1) D³/3 + D² C"),
    ("stored", "D", "D", (500, 1000, 2000, 4000, 8000), stored, 2, "H D²/2"),
    ("solve", "C", "C", (25, 50, 100, 200, 400), solving, 1, "D³ + D² C + C³"),
    ("stored", "C", "C", (25, 50, 100, 200, 400), stored, 1, "C (d + H D)"),
    ("learn", "d", "d", (128, 256, 512, 1024, 2048), learning, 2, "N (d² + H 64 D)"),
    ("solve", "d", "d", (128, 256, 512, 1024, 2048), solving, 3, "D³ + d³"),
    ("stored", "d", "d", (128, 256, 512, 1024, 2048), stored, 2, "d²/2 + C d"),
    ("all tasks, predict after each", "tasks", "tasks", (2, 4, 8, 16, 32), streaming, 2, "T solves, T²/2 predictions"),
)


def main() -> None:
    print("| what | against | from | to | slope | at most | formula |\n|---|---|---|---|---|---|---|")
    for what, symbol, name, sizes, measure, most, formula in STUDIES:
        measure(**{**BASE, name: sizes[0]})  # warm up
        repeats = 1 if measure is stored else REPEATS
        figures = [median([measure(**{**BASE, name: size}) for _ in range(repeats)]) for size in sizes]
        upper = len(sizes) // 2
        slope = np.polyfit(np.log(sizes[upper:]), np.log(np.maximum(figures[upper:], 1e-9)), 1)[0]
        unit = "MB" if measure is stored else "s"
        ends = f"{figures[0]:.3g} {unit} at {sizes[0]:,} | {figures[-1]:.3g} {unit} at {sizes[-1]:,}"
        print(f"| {what} | {symbol} | {ends} | {slope:.2f} | {most} | {formula} |", flush=True)


if __name__ == "__main__":
    main()
