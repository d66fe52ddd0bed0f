"""Peak memory of learning a long stream: it must not grow with the number of rows.

    .venv/bin/python benchmarks/memory.py [--rows 100000] [--features 768] [--n-projected 5000] [--n-heads 3]

Rows are made on the fly (200 Gaussian classes, batches of 1,000). Memory is counted beyond the interpreter with
everything imported.
"""

import argparse

import numpy as np

from anacp import AnaCP
from compare import forget_peak, resident
from measuring import Row, row

N_CLASSES, BATCH = 200, 1000


def streamed(n_rows: int, n_features: int, **sizes: int) -> tuple[list[float], float, float]:
    """Return the peak after each fifth of learning, that of solving and predicting, and the share of right answers."""
    generator = np.random.default_rng(0)
    means = generator.normal(size=(N_CLASSES, n_features)).astype(np.float32)

    def batch(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = generator.integers(N_CLASSES, size=n)
        return means[y] + 3 * generator.standard_normal((n, n_features), np.float32), y

    before, peaks = forget_peak(), []
    model = AnaCP(**sizes)
    for start in range(0, n_rows, BATCH):
        model.partial_fit(*batch(BATCH))
        if (start + BATCH) % (n_rows // 5) == 0:
            peaks.append(resident() - before)
    x, y = batch(5000)
    right = model.score(x, y)
    return peaks, resident() - before, right


def rows() -> list[Row]:
    """Return the bar of docs/performance.md: learning 100,000 rows of 768 features."""
    peaks, solving, right = streamed(100_000, 768)
    note = f"{peaks[0]:.0f} after a fifth; solving and predicting {solving:.0f}; {100 * right:.1f} % right"
    setting = "100,000 x 768, D = 5000, H = 3"
    return [row("peak memory of learning", "MB", max(peaks), at_most=582, setting=setting, note=note)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=768)
    parser.add_argument("--n-projected", type=int, default=5000)
    parser.add_argument("--n-heads", type=int, default=3)
    options = parser.parse_args()
    sizes = {"n_projected": options.n_projected, "n_heads": options.n_heads}
    peaks, solving, right = streamed(options.rows, options.features, **sizes)
    for fifth, peak in enumerate(peaks, 1):
        print(f"learned {fifth * options.rows // 5:>7,} rows: peak {peak:6.0f} MB")
    print(f"solved, predicted 5,000 rows ({100 * right:.1f} % right): peak {solving:6.0f} MB")


if __name__ == "__main__":
    main()
