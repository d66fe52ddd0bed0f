"""What each departure between the paper and the released code does to the accuracy, on both embedded samples.

    .venv/bin/python benchmarks/faithfulness.py [--seeds 0 1 2]

All classes are learned, then the test rows are predicted (A_last; no result depends on the order of the classes,
except the released covariance, which gets the 10 tasks of each seed). Prints the table in docs/faithfulness.md.
"""

import argparse
from dataclasses import replace

import numpy as np
import torch

from anacp import AnaCP, load_sample
from anacp.linalg import Triangle, symmetric_roots
from anacp.projections import separation_signs
from anacp.scenarios import ClassIncremental
from anacp.statistics import ClassMoments


def released_covariance(x: np.ndarray, y: np.ndarray, seed: int) -> torch.Tensor:
    """The old covariance weighted by a count that includes the new batch; jitter mixed in once, fading after."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    n, covariance = 0, torch.zeros(0)
    for task in ClassIncremental(y, seed=seed):
        rows = np.isin(y, task.classes)
        _, codes = np.unique(y[rows], return_inverse=True)
        nothing = torch.zeros(0, dtype=torch.int64)
        empty = ClassMoments(x.shape[1]).at(nothing, nothing, len(task.classes))
        moments = empty.plus(torch.from_numpy(x[rows]), torch.from_numpy(codes))
        new, n_new = moments.covariance(), int(rows.sum())
        n += n_new
        if task.index == 0:
            covariance = new + 1e-4 * torch.eye(len(new)).to(new)
        else:
            covariance = (n * covariance + n_new * new) / (n + n_new)
    return covariance


def with_covariance(model: AnaCP, covariance: torch.Tensor) -> AnaCP:
    """Let a model believe in another shared covariance."""
    known = model._knowledge
    moments, scatter = known.memory.moments, Triangle.zeros(len(covariance), dtype=torch.float64)
    for place, strip in scatter.places():
        strip.copy_(moments.n * covariance[place, : place.stop])
    other = moments._with(triangles=(scatter,))
    model._knowledge = known.after(replace(known.memory, statistics={**known.memory.statistics, "moments": other}))
    return model


def statement_signs(inner: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
    """δ with the indicator of the Lemma's statement, 2·1[·≥0], without the proof's -1."""
    norms = inner.diagonal().sqrt()
    slopes = 2.0 * (inner >= 0) * root * norms[:, None] ** 2 - root.diagonal()[:, None] * inner.abs()
    return -torch.sign((slopes / norms).fill_diagonal_(0).sum(1))


def count_signs(model: AnaCP) -> str:
    moments = model._knowledge.memory.moments
    covariance = moments.covariance() + 1e-4 * torch.eye(moments.means.shape[1], dtype=torch.float64)
    inner = moments.means @ torch.linalg.solve(covariance, moments.means.mT)
    root, _ = symmetric_roots(inner)
    proof, statement = separation_signs(inner, root), statement_signs(inner, root)
    return f"{int((proof == 1).sum())} (proof), {int((statement == 1).sum())} (statement) of {len(proof)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    seeds = parser.parse_args().seeds
    results: dict[str, dict[str, list[float]]] = {}

    for name in ("clinc150", "cifar100"):
        sample = load_sample(name)
        train = sample.x_train, sample.y_train

        def record(variant: str, model: AnaCP, name: str = name, sample=sample) -> None:
            accuracy = 100 * model.score(sample.x_test, sample.y_test)
            results.setdefault(variant, {}).setdefault(name, []).append(accuracy)
            print(f"{name} {variant}: {accuracy:.2f}", flush=True)

        for seed in seeds:
            model = AnaCP(random_state=seed).partial_fit(*train)
            record("default: targets='paper', normalize=True", model)
            print(f"{name} seed {seed}: classes with δ = +1: {count_signs(model)}")
            record("no repulsion: targets='means'", model.set_params(targets="means"))
            record("released targets: targets='reference'", model.set_params(targets="reference"))
            model.set_params(targets="paper")
            record("released covariance", with_covariance(model, released_covariance(*train, seed)))
            for value in ("heads", "inputs", False):
                model = AnaCP(random_state=seed, normalize=value).partial_fit(*train)
                record(f"normalize={value!r}", model)

    print("\n| variant | clinc150 | cifar100 |\n|---|---|---|")
    for variant, by_sample in results.items():
        cells = [f"{np.mean(values):.2f} ± {np.std(values):.2f}" for values in by_sample.values()]
        print(f"| {variant} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
