"""How much memory solving and predicting among many classes takes beside the result; run by `test_many_classes.py`.

A process of its own: what others have allocated and freed before would be taken again unseen.
"""

import gc
import json
import sys
from pathlib import Path

import numpy as np

import anacp
from anacp.learners.solution import numbers

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
LEARNERS = {
    "AnaCP": lambda: anacp.AnaCP(n_projected=300, n_heads=2),
    "drawn": lambda: anacp.AnaCP(n_projected=300, n_heads=2, replay="sampled", n_replay=3),
    "Ridge": lambda: anacp.Ridge(),
    "RanPAC": lambda: anacp.RanPAC(n_projected=300),
    "NCM": lambda: anacp.NCM(),
    "SLDA": lambda: anacp.SLDA(),
}
N_FEATURES = {"AnaCP": 32, "drawn": 32}  # 256 for others


def highest() -> int:
    lines = STATUS.read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def beside(action: object, n_kept: object = lambda: 0) -> int:
    """Return by how much memory grew at most, beside what is kept."""
    gc.collect()
    CLEAR.write_text("5")
    before = highest()
    kept = action()  # held, so that it is not freed before it is counted
    return highest() - before - n_kept() - (kept.nbytes if isinstance(kept, np.ndarray) else 0)


def main(name: str, n_classes: int) -> None:
    n_features = N_FEATURES.get(name, 256)
    generator = np.random.default_rng(0)
    means = generator.standard_normal((n_classes, n_features), np.float32)
    y = np.repeat(np.arange(n_classes), 2)
    x = means[y] + generator.standard_normal((len(y), n_features), np.float32) / 2
    small = LEARNERS[name]().partial_fit(x[:40], y[:40])  # what is made once, whatever the size
    small.predict_proba(x[:5]), small.familiarity(x[:5])
    model = LEARNERS[name]().partial_fit(x, y)
    model._knowledge.memory = model._knowledge.memory.absorbed()

    def solution() -> int:
        tensors = numbers(model._knowledge.solved.solution)
        return sum(tensor.untyped_storage().nbytes() for tensor in tensors)

    found = {"solve": beside(lambda: model.solve() and None, solution), "solution": solution()}
    rows = means[np.arange(2000) % n_classes]
    found["predict"] = beside(lambda: model.predict(rows))
    found["settle"] = beside(lambda: model.solve(probabilities=True, unknown=True) and None)
    found["judge"] = beside(lambda: model.judged(rows[:200], keep=0.95)[1])
    right = model.predict(rows) == np.arange(2000) % n_classes
    print(json.dumps(found | {"right": float(right.mean())}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
