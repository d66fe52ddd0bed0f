"""The library beside the textbook implementation, on the same features, in one process.

    .venv/bin/python benchmarks/compare.py [FEATURES.npz | clinc150 | cifar100] [--n-projected 5000] [--n-heads 3]

FEATURES.npz has the arrays xtr, ytr, xte, yte. Two ways of use are timed over 10 tasks (class order of seed 0):
predicting the classes seen so far after each task, and learning all tasks before one prediction. The textbook solves
in every update, so its second time is its updates plus its last prediction. The library runs before and after the
textbook, and its mean counts: machines are noisy.
"""

import argparse
import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from anacp import AnaCP, load_sample
from anacp.scenarios import ClassIncremental
from textbook import TextbookAnaCP

N_TASKS = 10


@dataclass
class Outcome:
    updates: list[float] = field(default_factory=list)
    predictions: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    peak: float = 0.0

    @property
    def seconds(self) -> float:
        return sum(self.updates) + sum(self.predictions)


def features(source: str) -> tuple[np.ndarray, ...]:
    if Path(source).is_file():
        arrays = np.load(source)
        return tuple(
            arrays[name].astype(np.float32 if name.startswith("x") else int) for name in ("xtr", "ytr", "xte", "yte")
        )
    sample = load_sample(source)
    codes = {name: i for i, name in enumerate(np.unique(sample.y_train))}
    train, test = (np.array([codes[label] for label in y]) for y in (sample.y_train, sample.y_test))
    return sample.x_train, train, sample.x_test, test


def resident() -> float:
    """Peak resident memory since the last `forget_peak`, in MB; NaN where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> float:
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return resident()


def run(model: object, data: tuple[np.ndarray, ...], *, every_task: bool) -> Outcome:
    x_train, y_train, x_test, y_test = data
    convert: Callable = torch.from_numpy if isinstance(model, TextbookAnaCP) else np.asarray
    tasks, outcome = list(ClassIncremental(y_train, n_tasks=N_TASKS)), Outcome()
    before = forget_peak()
    for task in tasks:
        rows = np.isin(y_train, task.classes)
        x, y = convert(x_train[rows]), convert(y_train[rows])
        start = perf_counter()
        model.partial_fit(x, y)
        outcome.updates.append(perf_counter() - start)
        if not (every_task or task.index == N_TASKS - 1):
            continue
        seen = [np.isin(y_test, earlier.classes) for earlier in tasks[: task.index + 1]]
        tested = np.logical_or.reduce(seen)
        x = convert(x_test[tested])
        start = perf_counter()
        predicted = model.predict(x)
        outcome.predictions.append(perf_counter() - start)
        correct = np.zeros(len(y_test))
        correct[tested] = np.asarray(predicted) == y_test[tested]
        outcome.accuracies.append(100 * float(np.mean([correct[rows].mean() for rows in seen])))
    outcome.peak = resident() - before
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", default="cifar100")
    parser.add_argument("--n-projected", type=int, default=5000)
    parser.add_argument("--n-heads", type=int, default=3)
    options = parser.parse_args()
    data = features(options.source)
    sizes = {"n_projected": options.n_projected, "n_heads": options.n_heads}
    print(f"{options.source}: {len(data[0])} train, {len(data[2])} test, {data[0].shape[1]} features, {sizes}")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")

    def ours(every_task: bool) -> Outcome:
        return run(AnaCP(**sizes), data, every_task=every_task)

    ours(every_task=False)  # warm up
    runs = {True: [ours(True)], False: [ours(False)]}
    with torch.inference_mode():
        textbook = run(TextbookAnaCP(**sizes), data, every_task=True)
    for every_task in (False, True):
        runs[every_task].append(ours(every_task))

    def row(name: str, seconds: float, peak: float, accuracies: list[float]) -> str:
        average = f"{np.mean(accuracies):7.2f}" if len(accuracies) > 1 else "      -"
        return f"{name:<22}{seconds:9.1f} s{peak:10.0f} MB{accuracies[-1]:9.2f}{average}"

    print(f"\n{'':<22}{'time':>11}{'peak memory':>13}{'A_last':>9}{'A_avg':>7}")
    for every_task, title in ((True, "predict after each task"), (False, "learn all, then predict")):
        once = sum(textbook.updates) + textbook.predictions[-1]
        reference = textbook.seconds if every_task else once
        mine = float(np.mean([outcome.seconds for outcome in runs[every_task]]))
        spread = " and ".join(f"{outcome.seconds:.1f}" for outcome in runs[every_task])
        accuracies = textbook.accuracies if every_task else textbook.accuracies[-1:]
        print(f"{title} ({reference / mine:.1f} x; the library took {spread} s)")
        print(row("  textbook", reference, textbook.peak, accuracies))
        print(row("  anacp", mine, max(o.peak for o in runs[every_task]), runs[every_task][-1].accuracies))


if __name__ == "__main__":
    main()
