"""How long learning, solving and predicting take, beside the textbook and the drawn replay, in one run.

    .venv/bin/python benchmarks/speed.py [FEATURES.npz | clinc150 | cifar100]

FEATURES.npz has the arrays xtr, ytr, xte, yte. `make bench DATA=FEATURES.npz` runs this with all other benchmarks.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from anacp import AnaCP
from anacp.paper import AS_PRINTED
from compare import features, run
from measuring import Row, median, printed, row, spread
from textbook import TextbookAnaCP

REPEATS = 5
Data = tuple[np.ndarray, ...]


def seconds(
    work: Callable[[], Any], *, repeats: int = REPEATS, before: Callable[[], Any] = lambda: None
) -> list[float]:
    """Time `work` several times, each after `before`, which is not timed; the first time warms up."""
    times = []
    for _ in range(repeats + 1):
        before()
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return times[1:]


def stream_rows(data: Data) -> list[Row]:
    """Ten tasks, with a prediction after each and with one at the end: ratios to the textbook."""
    run(AnaCP(), data, every_task=False)  # warm up
    ours = {every: [run(AnaCP(), data, every_task=every)] for every in (True, False)}
    with torch.inference_mode():
        textbook = run(TextbookAnaCP(), data, every_task=True)
    once = sum(textbook.updates) + textbook.predictions[-1]
    rows = []
    for every, name, reference, bar in (
        (True, "learn, solve and predict after each of 10 tasks", textbook.seconds, 10),
        (False, "learn 10 tasks, solve once, predict", once, 25),
    ):
        ours[every].append(run(AnaCP(), data, every_task=every))
        times = [outcome.seconds for outcome in ours[every]]
        accuracies = f"A_last {textbook.accuracies[-1]:.2f} textbook, {ours[every][-1].accuracies[-1]:.2f} anacp"
        note = f"{reference:.1f} s textbook, {spread(times)} s; {accuracies}"
        rows.append(row(name, "x the textbook", reference / median(times), at_least=bar, note=note))
    return rows


def solve_rows(data: Data) -> list[Row]:
    """A solution from nothing, a class more, an example more: ratios to the drawn replay from nothing."""
    x, y, x_test, y_test = data
    last = int(y.max())
    few = np.flatnonzero(y == last)[:20]
    old = y < last
    drawn = AnaCP(**AS_PRINTED).partial_fit(x, y)
    model = AnaCP().partial_fit(x, y)
    reference = seconds(drawn.solve, before=lambda: _forget_solution(drawn), repeats=3)
    anew = seconds(model.solve, before=lambda: _forget_solution(model))
    accuracies = f"accuracy {100 * drawn.score(x_test, y_test):.2f} drawn, {100 * model.score(x_test, y_test):.2f}"
    note = f"{spread(reference)} s drawn, {spread(anew)} s; {accuracies}"
    rows = [row("solve from nothing", "x the drawn replay", median(reference) / median(anew), at_least=4, note=note)]
    product = _product()
    known = AnaCP().partial_fit(x[old], y[old]).solve()
    for what, rows_more, bar in (
        ("a class of 20 examples more", few, 10),
        ("an example of an old class more", [0], 12),
    ):
        twin: list[AnaCP] = []

        def start(twin: list[AnaCP] = twin) -> None:
            twin[:] = [known._snapshot()]

        def work(twin: list[AnaCP] = twin, more: Any = rows_more) -> None:
            twin[0].partial_fit(x[more], y[more]).predict(x_test[:1])

        times = seconds(work, before=start)
        note = f"{spread(times)} s, {median(times) / product:.2f} times a 3000³ product"
        rows.append(row(what, "x the drawn replay", median(reference) / median(times), at_least=bar, note=note))
        rows.append(row(what, "3000³ products", median(times) / product, at_most=3, note=f"{product:.3f} s a product"))
    return rows


def _forget_solution(model: AnaCP) -> None:
    """Leave the statistics as they were after loading: nothing factored, nothing solved."""
    known = model._knowledge
    known.memory = known.memory.absorbed()
    for name in known.memory.statistics:
        statistic = known.memory.statistics[name]
        if hasattr(statistic, "_solved"):
            statistic._solved = None
    known.solved = None


def _product() -> float:
    matrix = torch.randn(3000, 3000)
    return median(seconds(lambda: matrix @ matrix))


def few_rows(data: Data) -> list[Row]:
    """84 rows of 12 classes: learned, solved, asked, saved."""
    x, y, x_test, y_test = data
    chosen = np.concatenate([np.flatnonzero(y == c)[:7] for c in np.unique(y)[:12]])
    of_them = np.isin(y_test, np.unique(y)[:12])

    def work() -> None:
        AnaCP().partial_fit(x[chosen], y[chosen]).predict(x_test[:1])

    times = seconds(work)
    model = AnaCP().partial_fit(x[chosen], y[chosen]).solve(probabilities=True)
    note = f"{spread(times)} s; {100 * model.score(x_test[of_them], y_test[of_them]):.1f} % right"
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        size = (Path(folder) / "model").stat().st_size / 1e6
    return [
        row("84 rows of 12 classes: learn, solve, predict", "s", median(times), at_most=0.5, note=note),
        row("84 rows of 12 classes: file", "MB", size, at_most=6),
    ]


def predict_rows(data: Data) -> list[Row]:
    """1,024 rows and one, beside the textbook."""
    x, y, x_test, _ = data
    model = AnaCP().partial_fit(x, y).solve()
    with torch.inference_mode():
        textbook = TextbookAnaCP(n_replay=1).partial_fit(torch.from_numpy(x), torch.from_numpy(y))
    rows = []
    for n in (1024, 1):
        ours = seconds(lambda n=n: model.predict(x_test[:n]), repeats=15)
        with torch.inference_mode():
            theirs = seconds(lambda n=n: textbook.predict(torch.from_numpy(x_test[:n])), repeats=15)
        note = f"{1e3 * median(theirs):.1f} ms textbook, {1e3 * median(ours):.2f} ms"
        rows.append(row(f"predict {n:,}", "x the textbook", median(theirs) / median(ours), at_least=4, note=note))
    return rows


def rows(source: str = "cifar100") -> list[Row]:
    """All of it, with as many threads as torch has now."""
    data = features(source)
    threads = torch.get_num_threads()
    setting = f"{Path(source).stem}, D = 5000, H = 3, {threads} {'thread' if threads == 1 else 'threads'}"
    found = [*few_rows(data), *predict_rows(data), *solve_rows(data), *stream_rows(data)]
    return [{**one, "setting": setting} for one in found]


if __name__ == "__main__":
    printed(rows(*sys.argv[1:2]))
