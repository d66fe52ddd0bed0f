"""Accuracy of AnaCP's defaults beside the paper's own way of computing: drawn replay, dense random matrices.

    .venv/bin/python benchmarks/defaults.py [FEATURES.npz ...]

All classes are learned, then the test rows predicted, with seeds 0, 1 and 2; on the embedded samples and on the
features given (arrays xtr, ytr, xte, yte). Prints a table of docs/performance.md.
"""

import sys
from pathlib import Path

import numpy as np

from anacp import AnaCP
from anacp.paper import AS_PRINTED
from compare import features


def main() -> None:
    print("| features | drawn replay, dense matrices | defaults |\n|---|---|---|")
    for source in (*sys.argv[1:], "clinc150", "cifar100"):
        x, y, x_test, y_test = features(source)
        means = []
        for settings in (AS_PRINTED, {}):
            models = (AnaCP(random_state=seed, **settings).partial_fit(x, y) for seed in (0, 1, 2))
            means.append(np.mean([100 * model.score(x_test, y_test) for model in models]))
        print(f"| {Path(source).stem} | {means[0]:.2f} | {means[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
