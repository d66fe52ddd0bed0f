"""`anacp learn --cluster`: the same on the nodes of a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from anacp import cli, cluster, datasets, methods
from anacp.errors import InputError


@dataclass(frozen=True)
class There:
    """What was learned on a cluster and saved."""

    classifier: methods.Classifier
    result: methods.Learned
    found: datasets.Labelled  # without its examples: what was left out, and notes
    tally: cluster.Tally
    solve_seconds: float
    save_seconds: float


def learn_there(
    classifier: methods.Classifier,
    model: Path,
    examples: list[str],
    nodes: cluster.Cluster,
    reading: cluster.Reading,
    *,
    strict: bool,
    solve: bool,
    exact: bool,
    device: str,
    console: cli.Screen,
) -> There:
    """Teach a classifier on a cluster, and save it."""
    import numpy as np  # not before it is needed

    with cli.shown_progress(console) as report:
        workers = cluster.pool_of(nodes, classifier.encoder, device=device)
        options: dict[str, Any] = {"strict": strict, "on_conflict": reading.on_error, "workers": workers}
        done = cluster.learn(
            nodes, classifier, examples, source=", ".join(examples), reading=reading, report=report, **options
        )
    taught, summed = done.model, done.summed
    if not done.learned.n_new and not taught.n_examples:
        raise InputError(
            f"Expected examples that can be learned in {', '.join(examples)}, got none: "
            f"{len(summed.skipped):,} cannot be read, {len(summed.conflicts):,} are of two classes."
        )
    solve_seconds = cli.solve_visibly(taught, console) if solve and done.learned.n_new else 0.0
    start = perf_counter()
    if done.learned.n_new:
        taught.save(model, exact=exact)
    save_seconds = perf_counter() - start
    summed.clear()
    workers.close()
    modality: Any = taught.modality
    found = datasets.Labelled((), np.empty(0, np.str_), modality, summed.left_out, summed.notes)
    return There(taught, done.learned, found, summed.tally, solve_seconds, save_seconds)
