"""RanPAC's choice of λ: on the end of each task, as published, beside a fifth of all rows, as here.

.venv/bin/python benchmarks/ranpac_selection.py [D]
"""

import sys

import numpy as np
import torch

from anacp import RanPAC
from anacp.datasets import Dataset, read_sample
from anacp.evaluation import average_incremental_accuracy, last_accuracy
from anacp.experiments import accuracy_matrix, follow
from anacp.learners.ridge_choice import RIDGES
from anacp.projections import RandomProjection
from anacp.scenarios import ClassIncremental

N_PROJECTED = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def published_ridge(x: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Fit the first 80 % of the task's rows with every λ; the least squared error on the others wins."""
    projection = RandomProjection(x.shape[1], N_PROJECTED, "relu", seed, "projection", dtype=torch.float64)
    z = projection(torch.tensor(x, dtype=torch.float64))
    targets = torch.nn.functional.one_hot(torch.tensor(np.unique(y, return_inverse=True)[1])).double()
    cut = int(0.8 * len(x))
    u, s, v = torch.linalg.svd(z[:cut], full_matrices=False)

    def error(ridge: float) -> float:
        weights = v.mT @ ((s / (s**2 + ridge))[:, None] * (u.mT @ targets[:cut]))
        return float((z[cut:] @ weights - targets[cut:]).square().sum())

    return min(RIDGES, key=error)


def published(data: Dataset, scenario: ClassIncremental, seed: int) -> tuple[float, float, list[float]]:
    """One learner; after each task λ is set to what that task alone chooses."""
    model, rows, ridges = RanPAC(n_projected=N_PROJECTED, ridge=1.0, random_state=seed), [], []
    tests = [task.rows for task in scenario.test_tasks(data.test.labels)]
    for task in scenario.tasks(data.train.labels):
        x, y = data.train.items[task.rows], data.train.labels[task.rows]
        shuffled = np.random.default_rng(seed).permutation(len(x))  # rows come sorted by class; a loader shuffles
        model.partial_fit(x, y)
        ridges.append(published_ridge(x[shuffled], y[shuffled], seed))
        model.set_params(ridge=ridges[-1])
        rows.append([100 * model.score(data.test.items[t], data.test.labels[t]) for t in tests[: task.index + 1]])
    return float(np.mean(rows[-1])), float(np.mean([np.mean(row) for row in rows])), ridges


for name in ("cifar100", "clinc150"):
    data = read_sample(name)
    results = []
    for seed in (0, 1, 2):
        scenario = ClassIncremental(data.train.labels, seed=seed)
        model = RanPAC(n_projected=N_PROJECTED, random_state=seed)
        matrix = accuracy_matrix([judged.step for judged in follow(model, data.train, data.test, scenario)])
        theirs = published(data, scenario, seed)
        results.append((*theirs[:2], last_accuracy(matrix), average_incremental_accuracy(matrix)))
        print(f"{name} seed {seed}: published λ by task {theirs[2]}, ours at the end {model.ridge_:g}", flush=True)
    last, average, our_last, our_average = np.mean(results, axis=0)
    print(f"{name}, D = {N_PROJECTED}: published {last:.2f} / {average:.2f}, here {our_last:.2f} / {our_average:.2f}")
