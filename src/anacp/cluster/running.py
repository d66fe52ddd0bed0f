"""Runs of experiments as tasks of a cluster: one task a run, in the same folders; a lost node repeats only its runs.

A task works in a folder of its own, whose files come here after every step: nodes need no disk in common, and what was
lost goes on where its last checkpoint was.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anacp.cluster.connecting import Cluster
from anacp.errors import AnacpError
from anacp.experiments import Event, Failed, Finished, Specification, Stepped, attempt, load_runs, needs
from anacp.files import locked, replacing

# Of a run whose process ends although its node lives.
ATTEMPTS = 4
RESULTS = "results.json"  # comes last: its presence means the end

Waiting = list[tuple[Specification, Path]]
Crew = Callable[[Waiting, dict[str, Any]], Iterator[Event]]
Files = dict[str, bytes | None]  # by name; None is gone


@dataclass(eq=False)
class _Task:
    """A run, where it was attempted, and what it yields there."""

    specification: Specification
    folder: Path
    nodes: list[str] = field(default_factory=list)  # of each attempt that has begun
    finished: bool = False
    lost: bool = False  # with its process, to be attempted again


def runs_on(cluster: Cluster, *, jobs: int | None = None) -> Crew:
    """Return what `experiments.sweep` takes as `crew`, to run on a cluster.

    Parameters
    ----------
    cluster : Cluster
        Of `connected`.
    jobs : int, optional
        Runs at a time; by default as many as the cluster has processors.
    """

    def crew(waiting: Waiting, options: dict[str, Any]) -> Iterator[Event]:
        ours: Waiting = []
        with ExitStack() as held:
            for specification, folder in waiting:
                try:
                    held.enter_context(locked(folder))
                except AnacpError as problem:
                    yield Failed(specification, str(problem))
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                ours.append((specification, folder))
            yield from _run(cluster, ours, options, jobs)

    return crew


def _run(cluster: Cluster, waiting: Waiting, options: dict[str, Any], jobs: int | None) -> Iterator[Event]:
    ray, cpus = cluster.ray, [int(node.cpus) for node in cluster.nodes() if node.cpus >= 1]
    at_once = max(1, min(jobs or sum(cpus), len(waiting)))
    threads = max(1, min([sum(cpus) // at_once, *cpus]))
    remote = ray.remote(num_cpus=threads, max_retries=0, num_returns="streaming", scheduling_strategy="SPREAD")(work)
    left = [_Task(*pair) for pair in waiting]
    under_way: dict[Any, _Task] = {}
    ready: set[str] = set()  # features that some run has finished computing
    try:
        while left or under_way:
            while len(under_way) < at_once and (task := _next(left, under_way.values(), ready)) is not None:
                asked = dict(options) | {"jobs": at_once, "fresh": options.get("fresh", False) and not task.nodes}
                under_way[remote.remote(task.specification.as_dict(), _files(task.folder), asked, threads)] = task
            for stream in ray.wait(list(under_way))[0]:
                task = under_way[stream]
                for event in _heard(cluster, stream, task):
                    if isinstance(event, Stepped | Finished):
                        ready |= needs(event.specification)
                    yield event
                    if isinstance(event, Finished | Failed):
                        task.finished = True
                if task.lost or task.finished:
                    del under_way[stream]
                    if not task.finished:
                        task.lost = False
                        left.insert(0, task)
    finally:
        for stream in under_way:
            ray.cancel(stream, force=True)


def _heard(cluster: Cluster, stream: Any, task: _Task) -> Iterator[Event]:
    """Yield what came of a task; where its process has ended, nothing, or that it is given up."""
    ray = cluster.ray
    try:
        node, event, files = ray.get(next(stream))
    except ray.exceptions.RayTaskError:
        raise  # a mistake of ours: it says where
    except (ray.exceptions.RayError, StopIteration) as problem:
        task.lost = True
        alive = {one.id for one in cluster.nodes()}
        ended = sum(node in alive for node in task.nodes)
        if ended >= ATTEMPTS:
            reason = next(iter(str(problem).splitlines()), "no reason")
            words = f"Its process ended {ended} times on nodes that live on ({reason}). Out of memory? Use fewer jobs."
            yield Failed(task.specification, words)
        return
    if event is None:
        task.nodes.append(node)
        return
    _write(task.folder, files)
    if isinstance(event, Finished):
        (result,) = load_runs(task.folder, left_out=[])
        yield Finished(task.specification, result, reused=event.reused)
    else:
        yield replace(event, specification=task.specification)


def _next(left: list[_Task], working: Any, ready: set[str]) -> _Task | None:
    """Take the first run whose features no other task is computing just now."""
    computing = {need for task in working for need in needs(task.specification)} - ready
    place = next((place for place, task in enumerate(left) if not needs(task.specification) & computing), None)
    return None if place is None else left.pop(place)


def work(
    stated: dict[str, Any], files: Files, options: dict[str, Any], threads: int
) -> Iterator[tuple[str, Event | None, Files]]:
    """Run one specification on a node: yield the node, then what happens, each time with the files that changed."""
    import ray
    import torch

    torch.set_num_threads(threads)
    node = ray.get_runtime_context().get_node_id()
    yield node, None, {}
    with tempfile.TemporaryDirectory(prefix="anacp-run-") as name:
        folder = Path(name) / "run"
        _write(folder, files)
        known = _marks(folder)
        for event in attempt(Specification.from_dict(stated), folder, **options):
            now = _marks(folder)
            changed: Files = {name: (folder / name).read_bytes() for name in now if now[name] != known.get(name)}
            yield node, event, changed | dict.fromkeys(known.keys() - now.keys())
            known = now


def _files(folder: Path) -> Files:
    """Return what a run has left here."""
    return {name: (folder / name).read_bytes() for name in _marks(folder)}


def _marks(folder: Path) -> dict[str, tuple[int, int]]:
    """Return by name what changes with the content of a file."""
    found = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in found}


def _write(folder: Path, files: Files) -> None:
    """Write files whole, the results last; none that is gone stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(files.items(), key=lambda pair: pair[0] == RESULTS):
        if content is None:
            (folder / name).unlink(missing_ok=True)
        else:
            with replacing(folder / name) as temporary:
                temporary.write_bytes(content)
