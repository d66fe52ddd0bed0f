"""What a cluster costs beside the plain command, and what crosses the network.

    .venv/bin/python benchmarks/cluster.py [--items 20000] [--only overhead bytes]

`overhead`: a table of made-up sentences learned by the plain command and by one node through Ray, each in a process of
its own, one after the other. `bytes`: rows of features learned by one, two and three nodes with a disk each, against
the formula of docs/cluster.md. Clusters of other people on this machine are left alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

from measuring import Row, printed, row

N_CLASSES, ROUNDS = 50, 2
STORE = 400_000_000


def sentences(path: Path, n: int) -> Path:
    """Write a table of n different sentences of 5 to 14 words."""
    draw = np.random.default_rng(0)
    syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ai")]
    words = ["".join(draw.choice(syllables, draw.integers(1, 4))) for _ in range(3000)]
    with path.open("w", encoding="utf-8") as file:
        file.write("text,label\n")
        for number in range(n):
            label = number % N_CLASSES
            own = words[label * 20 : label * 20 + 20]
            chosen = [*draw.choice(own, 3), *draw.choice(words, draw.integers(2, 12))]
            file.write(f"{' '.join(chosen)} {number},class {label:02}\n")
    return path


def cluster_of(disks: list[Path], cpus: int) -> Any:
    """Start a node for each disk."""
    from ray.cluster_utils import Cluster

    made = Cluster(shutdown_at_exit=True)
    for number, disk in enumerate(disks):
        options: dict[str, Any] = {"include_dashboard": False} if number == 0 else {}
        made.add_node(num_cpus=cpus, object_store_memory=STORE, env_vars={"ANACP_HOME": str(disk)}, **options)
    return made


def overhead_rows(n: int) -> list[Row]:
    """Wall time of two commands, processes and all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["ANACP_HOME"] = str(folder / "home")
        table, few = sentences(folder / "all.csv", n), sentences(folder / "few.csv", 60)
        cpus = len(os.sched_getaffinity(0))
        made = cluster_of([folder / "home"], cpus)
        times: dict[str, list[float]] = {"plain": [], "cluster": []}
        facts: dict[str, Any] = {}
        try:
            learned(few, folder / "few.anacp", None)  # exports the network, once for all
            for number in range(ROUNDS):
                for what, address in (("plain", None), ("cluster", made.address)):
                    start = perf_counter()
                    facts[what] = learned(table, folder / f"{what}-{number}.anacp", address)
                    times[what].append(perf_counter() - start)
                    print(f"{what}: {times[what][-1]:.1f} s", file=sys.stderr, flush=True)
        finally:
            made.shutdown()
    assert facts["plain"]["examples"] == facts["cluster"]["examples"] == n
    ratio = min(times["cluster"]) / min(times["plain"])
    (did,) = facts["cluster"]["cluster"]["nodes"]
    note = (
        f"{min(times['plain']):.1f} s plain, {min(times['cluster']):.1f} s through Ray, the better of {ROUNDS}; "
        f"in the worker {did['seconds']:.1f} s of shards, {did['sum_seconds']:.1f} s of {did['sums']} sums"
    )
    setting = f"{n:,} texts, minilm-l6, AnaCP, {cpus} cores"
    return [row("one node through Ray", "x the plain command", ratio, at_most=1.3, setting=setting, note=note)]


def learned(table: Path, model: Path, address: str | None) -> dict[str, Any]:
    """Run the command, and return what it says."""
    command = [sys.executable, "-m", "anacp", "learn", str(table), "--model", str(model), "--no-solve", "--json"]
    command += [] if address is None else ["--cluster", address]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        sys.exit(answer.stderr[-2000:])
    return json.loads(answer.stdout)


def byte_rows(sizes: tuple[int, ...] = (4_000, 16_000)) -> list[Row]:
    """Bytes of sums that go through the object store from disk to disk, counted where they arrive."""
    rows = []
    for n_nodes in (1, 2, 3):
        for n in sizes:
            with tempfile.TemporaryDirectory() as name:
                rows += _bytes_of(Path(name), n_nodes, n)
    return rows


def _bytes_of(folder: Path, n_nodes: int, n: int) -> list[Row]:
    from anacp import RanPAC, cluster
    from anacp.cluster.tree import branches

    disks = [folder / f"disk-{number}" for number in range(n_nodes)]
    os.environ["ANACP_HOME"] = str(disks[0])
    draw = np.random.default_rng(0)
    x, y = draw.standard_normal((n, 64)).astype(np.float32), np.arange(n) % N_CLASSES
    np.savez(folder / "rows.npz", xtr=x, ytr=y, xte=x[:1], yte=y[:1])
    made = cluster_of(disks, 1)
    try:
        with cluster.connected(made.address) as nodes:
            learner = RanPAC(n_projected=1000)
            done = cluster.summed(nodes, [str(folder / "rows.npz")], learner, reading=cluster.Reading(), rows=100)
            done.learner.save(folder / "sum", exact=True, solution=False)
            done.clear()
    finally:
        made.shutdown()
    size = (folder / "sum").stat().st_size
    n_branches = len(branches(n // 100, 4 * n_nodes if n_nodes > 1 else 1))
    formula = n_branches * (n_nodes - 1) / n_nodes * size
    brought = done.tally.bytes_brought
    setting = f"{n:,} rows in {n // 100} shards, {n_nodes} node{'s' * (n_nodes > 1)}, sums of {size / 1e6:.2f} MB"
    note = f"formula {formula / 1e6:.1f} MB for {n_branches} branches"
    return [row("sums brought from node to node", "MB", brought / 1e6, setting=setting, note=note)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=("overhead", "bytes"), default=("bytes", "overhead"))
    options = parser.parse_args()
    if "bytes" in options.only:
        printed(byte_rows())
    if "overhead" in options.only:
        printed(overhead_rows(options.items))


if __name__ == "__main__":
    main()
