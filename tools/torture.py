"""Tries to break every promise of docs/reliability.md: `make torture`, or `python -m tools.torture --help`.

Each torture is seeded and bounded; what it finds can be made again with the seed that is printed. Exit code 1 if
anything was found.
"""

import argparse
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before torch is imported: a process with one thread can be forked
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tests.fuzz import faults, files, kills, threads  # noqa: E402
from tests.fuzz.tally import Tally, Tick, one_line  # noqa: E402

Torture = Callable[..., Tally]
PART = 20  # sequences at a time


def sequences(n: int, seed: int, *, tick: Tick) -> Tally:
    """Random learning, unlearning, merging, saving and loading, against a model that never saw what is gone."""
    if find_spec("tests.fuzz.sequences") is None:
        return Tally("sequences", "sequences", skipped="tests/fuzz/sequences.py is not here")
    from tests.fuzz.sequences import run_sequences

    tally = Tally("sequences", "sequences", figures={"models compared": 0, "largest deviation": 0.0})
    for part in range(0, n, PART):  # it raises at the first broken promise: others may follow
        size = min(PART, n - part)
        try:
            found = run_sequences(size, seed + part)
        except Exception as problem:
            notes = ", ".join(getattr(problem, "__notes__", ()))
            tally.fail("broken promise", f"run_sequences({size}, {seed + part}): {one_line(problem)} ({notes})")
        else:
            tally.refusals += found.refusals.total()
            tally.figures["models compared"] += found.compared
            tally.figures["largest deviation"] = max(tally.figures["largest deviation"], found.largest)
        tally.attempts += size
        tick(tally.attempts, n)
    return tally


TORTURES: dict[str, tuple[int, Torture]] = {
    "mutations": (20_000, files.run_mutations),
    "bits": (5_000, files.run_bit_flips),
    "kills": (500, kills.run),
    "faults": (200, faults.run),
    "threads": (100_000, threads.run),
    "sequences": (10_000, sequences),
}


class Line:
    """One line for each torture: how far it is, and how long it will take; rewritten where somebody watches."""

    def __init__(self, name: str) -> None:
        self.name, self.start, self.shown = name, time.monotonic(), 0.0

    def tick(self, done: int, total: int) -> None:
        now = time.monotonic()
        if sys.stdout.isatty() and done and now - self.shown > 0.5:
            self.shown, left = now, (now - self.start) * (total - done) / done
            print(f"\r{self.name}: {done:,} of {total:,}, about {left:.0f} s left\x1b[K", end="", flush=True)

    def end(self, tally: Tally) -> float:
        seconds = time.monotonic() - self.start
        found = f"skipped: {tally.skipped}" if tally.skipped else f"{tally.n_failures:,} failures"
        start = "\r\x1b[K" if sys.stdout.isatty() else ""
        print(f"{start}{self.name}: {tally.attempts:,} {tally.unit}, {found}, {seconds:.0f} s", flush=True)
        return seconds


def table(tallies: dict[str, Tally], seconds: dict[str, float]) -> str:
    """Return the table that docs/reliability.md has."""
    lines = ["| torture | tried | refused in one line | failures | seconds |", "|---|---|---|---|---|"]
    for name, tally in tallies.items():
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(tally.kinds.items()))
        failures = f"skipped: {tally.skipped}" if tally.skipped else kinds or "0"
        tried, refused = f"{tally.attempts:,} {tally.unit}", f"{tally.refusals:,}" if tally.refusals else "–"
        lines.append(f"| {tally.name} | {tried} | {refused} | {failures} | {seconds[name]:.0f} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Try to break every promise of docs/reliability.md.")
    parser.add_argument("--seed", type=int, help="what is drawn depends on it alone; drawn and printed if left out")
    parser.add_argument("--only", choices=TORTURES, action="append", help="this torture; may be given again")
    parser.add_argument("--share", type=float, default=1.0, help="this part of the whole, for a short run")
    parser.add_argument("--json", type=Path, help="write everything that was found to a file")
    given = parser.parse_args()
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    tallies: dict[str, Tally] = {}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["ANACP_HOME"] = home  # never the person's own
        for name in given.only or TORTURES:
            n, torture = TORTURES[name]
            line = Line(name)
            tallies[name] = torture(max(1, round(n * given.share)), seed, tick=line.tick)
            seconds[name] = line.end(tallies[name])
    print(f"\n{table(tallies, seconds)}")
    for tally in tallies.values():
        for failure in tally.failures[:20]:
            print(f"{tally.name}, {failure}")
    if given.json:
        found = {name: tally.as_dict() | {"seconds": seconds[name]} for name, tally in tallies.items()}
        given.json.write_text(json.dumps({"seed": seed, "share": given.share, "tortures": found}, indent=1))
    return int(any(tally.n_failures for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
