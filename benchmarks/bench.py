"""All bars of docs/performance.md in one run: each figure beside its bar, printed and written as JSON.

    make bench [DATA=FEATURES.npz] [ONLY="speed start_up"]

FEATURES.npz has the arrays xtr, ytr, xte, yte; without it the embedded CIFAR-100 sample is used, whose hundred classes
ask for less than the two hundred that the bars are meant for. Every part runs in a process of its own, one after the
other: nothing else should run meanwhile. Speed is measured with one thread and with all.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PARTS = ("speed", "start_up", "file_size", "export", "memory")
THREADS = {"speed": (1, 0)}  # 0 stands for all


def measured(part: str, data: str | None) -> list[dict[str, Any]]:
    """Return the rows of one part, in this process."""
    module = import_module(part)
    if part == "speed":
        return module.rows(data or "cifar100")
    if part in ("file_size", "export") and data:
        return module.rows([data] if part == "file_size" else Path(data))
    return module.rows()


def in_a_process(part: str, data: str | None, threads: int) -> list[dict[str, Any]]:
    """Return the rows of one part, measured in a process that does nothing else."""
    environment = {
        **os.environ,
        **({"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)} if threads else {}),
    }
    command = [sys.executable, __file__, "--part", part, *(["--data", data] if data else [])]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE, check=False)
    if answer.returncode:
        sys.exit(f"{part} failed:\n{answer.stderr[-2000:]}")
    return json.loads(answer.stdout.splitlines()[-1])


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows for a person."""
    lines = ["| what | setting | figure | bar | | measured |", "|---|---|---|---|---|---|"]
    for row in rows:
        met = "" if not row["bar"] else "met" if row["passed"] else "**missed**"
        figure = f"{row['figure']:.3g} {row['unit']}"
        lines.append(f"| {row['what']} | {row['setting']} | {figure} | {row['bar']} | {met} | {row.get('note', '')} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "bench.json")
    options = parser.parse_args()
    data = str(Path(options.data).resolve()) if options.data and Path(options.data).is_file() else options.data
    if options.part:
        print(json.dumps(measured(options.part, data)))
        return
    rows: list[dict[str, Any]] = []
    for part in options.only:
        for threads in THREADS.get(part, (0,)):
            start = time.perf_counter()
            found = in_a_process(part, data, threads)
            rows += found
            print(f"{part}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(rows, indent=1))
    print(table(rows))
    missed = [row["what"] for row in rows if not row["passed"]]
    print(f"\n{len(rows)} figures, {len(missed)} bars missed; written to {options.output}")


if __name__ == "__main__":
    main()
