"""Peak memory of learning a long stream: it must not grow with the number of rows.

    .venv/bin/python benchmarks/memory.py [--rows 100000] [--features 768] [--n-projected 5000] [--n-heads 3]

Rows are made on the fly (200 Gaussian classes, batches of 1,000). Memory is counted beyond the interpreter with
everything imported.
"""

import argparse

import numpy as np

from anacp import AnaCP
from compare import forget_peak, resident

N_CLASSES, BATCH = 200, 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=768)
    parser.add_argument("--n-projected", type=int, default=5000)
    parser.add_argument("--n-heads", type=int, default=3)
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    means = generator.normal(size=(N_CLASSES, options.features)).astype(np.float32)

    def batch(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        y = generator.integers(N_CLASSES, size=n_rows)
        return means[y] + 3 * generator.standard_normal((n_rows, options.features), np.float32), y

    before = forget_peak()
    model = AnaCP(n_projected=options.n_projected, n_heads=options.n_heads)
    for start in range(0, options.rows, BATCH):
        model.partial_fit(*batch(BATCH))
        if (start + BATCH) % (options.rows // 5) == 0:
            print(f"learned {start + BATCH:>7,} rows: peak {resident() - before:6.0f} MB", flush=True)
    x, y = batch(5000)
    accuracy = model.score(x, y)
    print(f"solved, predicted 5,000 rows ({100 * accuracy:.1f} % right): peak {resident() - before:6.0f} MB")


if __name__ == "__main__":
    main()
