"""What learning costs on many machines: constants measured here, a model of time and money, and a simulation of faults.

    .venv/bin/python benchmarks/scale.py measure [--output benchmarks/results/scale.json]
    .venv/bin/python benchmarks/scale.py foretell benchmarks/results/scale.json
    .venv/bin/python benchmarks/scale.py tables benchmarks/results/scale.json
    .venv/bin/python benchmarks/scale.py simulate benchmarks/results/scale.json [--shards 10000]

`measure` runs on one thread, which stands for one processor. docs/scale.md has the formulas and what this printed.
"""

import argparse
import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from anacp import AnaCP
from measuring import median
from simulation import Faults, Times, simulated

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # no token is to be left on this machine

FEATURES, PROJECTED, HEADS = 384, 5000, 3  # d of minilm-l6, and the defaults of AnaCP
ROWS = 4096  # of a shard
PROCESSORS = 16  # of a node
PRICE = 0.05  # of a processor for an hour, in dollars
NETWORK = 1.25e9  # bytes a second between nodes
FORETOLD = {"C": 4000, "D": 3000}


@dataclass
class Constants:
    """Seconds on one processor, and bytes."""

    encode_row: float = 0.0  # of a text by minilm-l6
    learn_row: float = 0.0  # its share of a shard that is learned
    keep_byte: float = 0.0  # of a sum that is written
    merge_byte: float = 0.0  # of two sums of one size: read, added, written
    factor: float = 0.0  # an operation of a Cholesky factor
    product: float = 0.0  # an operation of any product
    dispatch: float = 0.0  # a task through Ray, beside its work
    shard_seconds: list[float] = field(default_factory=list)
    merge_seconds: list[float] = field(default_factory=list)
    sum_bytes: int = 0  # of a sum with the classes it was measured with


def rows_of(n: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    y = draw.integers(n_classes, size=n)
    means = np.random.default_rng(1).standard_normal((n_classes, FEATURES), np.float32)
    return means[y] + draw.standard_normal((n, FEATURES), np.float32), y


def sum_size(n_classes: float, *, d: int = FEATURES, D: int = PROJECTED, H: int = HEADS) -> float:
    """Bytes of a sum: for each head half a matrix and class sums, in 4 bytes; means and half a scatter in 8."""
    return 4 * H * (D * D / 2 + n_classes * D) + 8 * (d * d / 2 + n_classes * d)


def work_of_solve(n_classes: int, *, d: int = FEATURES, D: int = PROJECTED, H: int = HEADS) -> tuple[float, float]:
    """Operations of factors, and of products, as the code does them (k coefficients a row, ELMs in parts of m)."""
    k, n_parts = min(n_classes, d), -(-D // 2000)
    m = D / n_parts
    factors = H * D**3 / 3 + n_parts * m**3 / 3
    heads = H * (2 * D * D * k + 2 * D * n_classes * k)
    targets = 4 * n_classes**2 * d + 4 * n_classes * d * d
    replay = H * (2 * n_classes * k * D + 8 * n_classes * k * k) + 2 * n_classes * k * D
    grams = n_parts * (2 * n_classes * m * m + 2 * m * m * n_classes)  # two triangles, and the right-hand sides
    return factors, heads + targets + replay + grams


def solve_seconds(constants: Constants, n_classes: int, **sizes: int) -> float:
    factors, products = work_of_solve(n_classes, **sizes)
    return constants.factor * factors + constants.product * products


def timed_solve(n_classes: int, D: int) -> float:
    model = AnaCP(n_projected=D).partial_fit(*rows_of(max(3 * n_classes, D), n_classes))
    model._knowledge.memory = model._knowledge.memory.absorbed()
    start = perf_counter()
    model.solve()
    return perf_counter() - start


def measured() -> Constants:
    torch.set_num_threads(1)
    found = Constants()
    with tempfile.TemporaryDirectory() as name:
        os.environ["ANACP_HOME"] = name
        _measure_shards(found)
        _measure_encoder(found)
    _measure_solves(found)
    found.dispatch = _measured_dispatch()
    return found


def _measure_shards(found: Constants, n_classes: int = 100, n_shards: int = 6) -> None:
    from anacp.cluster.keeping import Kept
    from anacp.cluster.tree import Range

    kept, learn, keep = Kept("scale"), [], []
    for number in range(n_shards):
        x, y = rows_of(ROWS, n_classes, seed=number)
        start = perf_counter()
        learner = AnaCP(n_projected=PROJECTED, n_heads=HEADS).partial_fit(x, y)
        learn.append(perf_counter() - start)
        start = perf_counter()
        kept.put(Range(number, number + 1), learner)
        keep.append(perf_counter() - start)
    found.sum_bytes = (kept.folder / "0-1.sum").stat().st_size
    for number in range(0, n_shards - 1, 2):
        start = perf_counter()
        left, right = (kept.get(Range(at, at + 1)) for at in (number, number + 1))
        kept.put(Range(number, number + 2), left + right)
        found.merge_seconds.append(perf_counter() - start)
    found.learn_row, found.keep_byte = median(learn) / ROWS, median(keep) / found.sum_bytes
    found.merge_byte = median(found.merge_seconds) / found.sum_bytes
    found.shard_seconds = [one + two for one, two in zip(learn, keep, strict=True)]


def _measure_encoder(found: Constants, n: int = 256) -> None:
    from anacp.encoders import Encoder

    encoder = Encoder("minilm-l6")
    texts = [f"please move {i} dollars from account {i * 7} to my savings by the end of the week" for i in range(2 * n)]
    encoder.encode(texts[:n])
    start = perf_counter()
    encoder.encode(texts[n:])
    found.encode_row = (perf_counter() - start) / n


def _measure_solves(found: Constants) -> None:
    """Fit seconds an operation of factors and of products to solves of several sizes."""
    timed_solve(100, 500)
    work, took = [], []
    for n_classes, D in ((200, 2000), (200, 4000), (1000, 2000), (2000, 1000), (2000, 2000)):
        took.append(min(timed_solve(n_classes, D) for _ in range(2)))
        work.append(work_of_solve(n_classes, D=D))
    a, b = np.array(work), np.array(took)
    (found.factor, found.product), *_ = np.linalg.lstsq(a / b[:, None], np.ones(len(b)), rcond=None)


def _measured_dispatch(n: int = 300) -> float:
    from anacp import cluster

    with cluster.connected("local") as nodes:
        ray = nodes.ray
        task = ray.remote(num_cpus=1)(lambda: None)
        ray.get([task.remote() for _ in range(20)])
        start = perf_counter()
        for _ in range(n):
            ray.get(task.remote())
        return (perf_counter() - start) / n


# The model ---------------------------------------------------------------------------------------------------------


def parts_of_time(c: Constants, n_rows: float, n_classes: int, n_nodes: int) -> dict[str, float]:
    """Seconds of each part; those of rows, shards and sums are shared by all processors."""
    n_shards, processors = n_rows / ROWS, n_nodes * PROCESSORS
    n_branches = min(4 * n_nodes, n_shards) if n_nodes > 1 else 0.0

    def of_rows(rows: float) -> float:
        """Bytes of a sum of so many rows: it has their classes."""
        return sum_size(min(n_classes, rows))

    # At height h of the tree there are n_shards / 2^h sums of 2^h shards each; those above branches are added at home.
    heights = [2**h for h in range(1, int(np.ceil(np.log2(max(n_shards, 2)))) + 1)]
    added = {n: n_shards / n * of_rows(ROWS * n) for n in heights}
    at_home = sum(size for n, size in added.items() if n_shards / n < n_branches)
    brought = n_branches * of_rows(n_rows / n_branches) * (n_nodes - 1) / n_nodes if n_branches else 0.0
    return {
        "features": n_rows * c.encode_row / processors,
        "learning": n_rows * c.learn_row / processors,
        "keeping": n_shards * of_rows(ROWS) * c.keep_byte / processors,
        "adding": (sum(added.values()) - at_home) * c.merge_byte / processors,
        "adding at home": at_home * c.merge_byte / PROCESSORS,
        "network": brought / NETWORK,
        "driver": n_shards * 3 * c.dispatch,
        "solving": solve_seconds(c, n_classes) / PROCESSORS,
    }


def tables(c: Constants) -> None:
    print("| rows | classes | nodes | hours | dollars | a sum | longest |\n|---|---|---|---|---|---|---|")
    for n_rows in (1e6, 1e8, 1e9):
        for n_classes in (10**3, 10**4, 10**5, 10**6):
            for n_nodes in (1, 16, 256):
                if n_classes > n_rows:
                    continue
                parts = parts_of_time(c, n_rows, n_classes, n_nodes)
                hours = sum(parts.values()) / 3600
                longest = max(parts, key=lambda name: parts[name])
                share = parts[longest] / sum(parts.values())
                money = hours * n_nodes * PROCESSORS * PRICE
                print(
                    f"| 10^{np.log10(n_rows):.0f} | 10^{np.log10(n_classes):.0f} | {n_nodes} | {hours:,.2f} | "
                    f"{money:,.2f} | {sum_size(n_classes) / 1e9:,.2f} GB | {longest}, {100 * share:.0f} % |"
                )


def foretell(c: Constants) -> None:
    torch.set_num_threads(1)
    sizes = FORETOLD
    expected = solve_seconds(c, sizes["C"], D=sizes["D"])
    took = min(timed_solve(sizes["C"], sizes["D"]) for _ in range(2))
    print(f"a solve with {sizes}: {expected:.1f} s foretold, {took:.1f} s measured, {took / expected:.2f} times")


def simulate(c: Constants, n_shards: int) -> None:
    times = Times(c.shard_seconds, c.merge_seconds, c.sum_bytes / NETWORK)
    print("| nodes | a node lost every | a process every | makespan | x without faults | learned again | lost nodes |")
    print("|---|---|---|---|---|---|---|")
    for n_nodes in (1, 16, 256):
        plain = simulated(n_shards, n_nodes, PROCESSORS, times, Faults()).seconds
        for faults in (Faults(), Faults(24, 24), Faults(6, 2), Faults(1, 0.5), Faults(0.25, 0.25)):
            if n_nodes == 1 and faults.node_hours:
                continue  # its node is the driver's
            done = [simulated(n_shards, n_nodes, PROCESSORS, times, faults, seed=seed) for seed in range(3)]
            makespan = float(np.mean([one.seconds for one in done]))
            said = [f"{hours:g} h" if hours else "never" for hours in (faults.node_hours, faults.process_hours)]
            again = 100 * float(np.mean([one.learned / n_shards - 1 for one in done]))
            lost = float(np.mean([one.lost_nodes for one in done]))
            print(
                f"| {n_nodes} | {' | '.join(said)} | {makespan:,.0f} s | {makespan / plain:.2f} | {again:.1f} % | "
                f"{lost:.1f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "foretell", "tables", "simulate"))
    parser.add_argument("constants", nargs="?", type=Path)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "scale.json")
    parser.add_argument("--shards", type=int, default=10_000)
    options = parser.parse_args()
    if options.what == "measure":
        found: dict[str, Any] = asdict(measured())
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(found, indent=1))
        print(json.dumps(found, indent=1))
        return
    constants = Constants(**json.loads((options.constants or options.output).read_text()))
    if options.what == "simulate":
        simulate(constants, options.shards)
    else:
        {"foretell": foretell, "tables": tables}[options.what](constants)


if __name__ == "__main__":
    main()
