"""Peak memory of predicting 100,000 rows of 768 features among 1,000 classes, beyond the solved model, by method.

    .venv/bin/python benchmarks/prediction_memory.py [METHOD ...]

FeCAM costs C·d² operations a row (over an hour for all rows on two cores), so it predicts two blocks of its own size;
its memory does not depend on the number of rows.
"""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

ROWS, FEATURES, CLASSES = 100_000, 768, 1_000


def resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1e3
    raise RuntimeError("no VmRSS")


def measure(name: str) -> None:
    from anacp.methods import find_method

    generator = np.random.default_rng(0)
    means = generator.normal(size=(CLASSES, FEATURES)).astype(np.float32)
    y = np.arange(3 * CLASSES) % CLASSES
    x = means[y] + generator.normal(size=(len(y), FEATURES)).astype(np.float32)
    model = find_method(name).new().partial_fit(x, y).solve()
    n_rows = 2 * model._block_rows if name == "FeCAM" else ROWS
    rows = np.repeat(means, n_rows // CLASSES + 1, axis=0)[:n_rows] + np.float32(0.5)
    before, peak, done = resident(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    model.predict(rows)
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    print(f"| {name} | {n_rows:,} | {before:,.0f} | {peak[0] - before:,.0f} | {seconds:.0f} |", flush=True)


if len(sys.argv) == 3 and sys.argv[1] == "--one":
    measure(sys.argv[2])
else:
    from anacp.methods import compared_methods

    print("| method | rows | MB before | MB more at the peak | seconds |\n|---|---|---|---|---|", flush=True)
    for name in sys.argv[1:] or compared_methods():
        subprocess.run([sys.executable, __file__, "--one", name], check=True)
