"""How many pictures a second: onnxruntime beside eager torch, the same network and batch in one process.

    python benchmarks/engines.py [BACKBONE] [BATCH_SIZE]

Rounds alternate, so that a noisy machine disturbs both alike; the median round counts.
"""

import statistics
import sys
import time

import numpy as np
import torch

from anacp.backbones import backbone

ROUNDS = 7


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "efficientnet-lite0"
    batch_size = int(sys.argv[2]) if len(sys.argv) > 2 else 32
    backbones = {engine: backbone(name, engine=engine) for engine in ("torch", "onnx")}
    engines = {engine: loaded._running() for engine, loaded in backbones.items()}
    example = backbones["torch"].reader.example()
    batch = {key: np.resize(array, (batch_size, *array.shape[1:])) for key, array in example.items()}
    features = {engine: running.run(batch) for engine, running in engines.items()}  # warms up
    seconds: dict[str, list[float]] = {engine: [] for engine in engines}
    for _ in range(ROUNDS):
        for engine, running in engines.items():
            started = time.perf_counter()
            running.run(batch)
            seconds[engine].append(time.perf_counter() - started)
    rates = {engine: batch_size / statistics.median(times) for engine, times in seconds.items()}
    print(f"{name}, batches of {batch_size}, {torch.get_num_threads()} threads, median of {ROUNDS} rounds")
    for engine, rate in rates.items():
        print(f"  {engine:<6}{rate:8.1f} inputs/s")
    print(f"  ratio {rates['onnx'] / rates['torch']:6.1f} x")
    print(f"  largest deviation {np.abs(features['onnx'] - features['torch']).max():.1e}")


if __name__ == "__main__":
    main()
