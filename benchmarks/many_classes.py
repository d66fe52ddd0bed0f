"""Peak memory and time of solving and asking among many classes, beside what is kept.

    .venv/bin/python benchmarks/many_classes.py [--classes 4000] [--features 128] [--n-projected 1000] [METHOD ...]

Three made-up rows a class. "solve" is beside what was learned, "predict" of a row a class (4,000 at most) beside the
solved model, "settle" sets probabilities and thresholds. Each method is measured in a process of its own.
"""

import argparse
import subprocess
import sys
from time import perf_counter

import numpy as np

from compare import forget_peak, resident

METHODS = ("AnaCP", "Ridge", "RanPAC", "NCM", "SLDA")


def measure(name: str, n_classes: int, n_features: int, n_projected: int) -> None:
    from anacp.learners.solution import numbers
    from anacp.methods import find_method

    draw = np.random.default_rng(0)
    means = draw.standard_normal((n_classes, n_features), np.float32)
    y = np.arange(3 * n_classes) % n_classes
    x = means[y] + draw.standard_normal((len(y), n_features), np.float32)
    options = {"n_projected": n_projected} if name in ("AnaCP", "RanPAC") else {}
    model = find_method(name).new(**options).partial_fit(x, y)
    model._knowledge.memory = model._knowledge.memory.absorbed()
    rows = means[:4000] + np.float32(0.1)
    said = []
    for action in (model.solve, lambda: model.predict(rows), lambda: model.solve(probabilities=True, unknown=True)):
        before, start = forget_peak(), perf_counter()
        action()
        said += [f"{resident() - before:,.0f} MB", f"{perf_counter() - start:.1f} s"]
    kept = sum(one.numel() * one.element_size() for one in numbers(model._knowledge.solved.solution)) / 1e6
    print(f"| {name} | {kept:,.0f} MB | {' | '.join(said)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--classes", type=int, default=4000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--n-projected", type=int, default=1000)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = options.classes, options.features, options.n_projected
    if options.one:
        measure(options.methods[0], *sizes)
        return
    print("| method | solution | solve | | predict | | settle | |\n|---|---|---|---|---|---|---|---|", flush=True)
    for name in options.methods:
        flags = zip(("--classes", "--features", "--n-projected"), map(str, sizes), strict=True)
        given = [word for pair in flags for word in pair]
        subprocess.run([sys.executable, __file__, "--one", *given, name], check=True)


if __name__ == "__main__":
    main()
