"""Processes that run experiments side by side, each on its share of the cores."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any

from anacp.errors import AnacpError
from anacp.experiments.events import Event, Failed, Finished, Stepped, Working
from anacp.experiments.material import Materials, needs
from anacp.experiments.runner import run
from anacp.experiments.specification import Specification
from anacp.progress import Progress

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class _Worker:
    process: Any
    connection: Connection
    current: Specification | None = None


def attempt(specification: Specification, folder: Path, **options: Any) -> Iterator[Event]:
    """Run one specification; an error of its own is an event, so that other runs go on."""
    try:
        yield from run(specification, folder, **options)
    except AnacpError as problem:
        yield Failed(specification, str(problem))
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        yield Failed(specification, f"{type(problem).__name__}: {problem} ({where.filename}, line {where.lineno})")


def side_by_side(
    waiting: Sequence[tuple[Specification, Path]], *, jobs: int, threads: int, options: dict[str, Any]
) -> Iterator[Event]:
    """Yield what happens in `jobs` processes of that many threads; one that dies is replaced, and its run reported."""
    left = list(waiting)
    workers: list[_Worker] = []
    ready: set[str] = set()  # features that some run has finished computing
    try:
        while left or any(worker.current for worker in workers):
            while left and len(workers) < jobs:
                workers.append(_start(threads, options | {"jobs": jobs}))
            for worker in workers:
                if worker.current is None and (chosen := _next(left, workers, ready)) is not None:
                    worker.current, folder = chosen
                    with contextlib.suppress(OSError):  # it died before its first run: said below
                        worker.connection.send((worker.current.as_dict(), str(folder)))
            busy = {worker.connection: worker for worker in workers if worker.current}
            for connection in wait(list(busy)):
                for event in _hear(busy[connection], workers):  # type: ignore[index]
                    if isinstance(event, Stepped | Finished):
                        ready |= needs(event.specification)
                    yield event
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()


def _next(
    left: list[tuple[Specification, Path]], workers: Sequence[_Worker], ready: set[str]
) -> tuple[Specification, Path] | None:
    """Take the first run whose features no other process is computing just now."""
    computing = {need for worker in workers if worker.current for need in needs(worker.current)} - ready
    place = next((place for place, (one, _) in enumerate(left) if not needs(one) & computing), None)
    return None if place is None else left.pop(place)


def _hear(worker: _Worker, workers: list[_Worker]) -> Iterator[Event]:
    assert worker.current is not None
    try:
        event: Event = worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join()
        workers.remove(worker)
        code = worker.process.exitcode
        reason = f"was ended by signal {-code}" if code and code < 0 else f"ended with code {code}"
        hint = " Out of memory? Use fewer jobs." if code == -signal.SIGKILL else ""
        yield Failed(worker.current, f"Its process {reason}.{hint} Run the same command to resume it.")
        return
    yield replace(event, specification=worker.current)
    if isinstance(event, Finished | Failed):
        worker.current = None


def _start(threads: int, options: dict[str, Any]) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, threads, options), daemon=True)
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, str(threads)))  # read by libraries when the new process loads them
    try:
        process.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    theirs.close()
    return _Worker(process, ours)


def _work(connection: Connection, threads: int, options: dict[str, Any]) -> None:
    """Run what the parent sends until it hangs up."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    materials = Materials()
    with contextlib.suppress(EOFError, OSError):
        while True:
            stated, folder = connection.recv()
            specification = Specification.from_dict(stated)

            def report(progress: Progress, specification: Specification = specification) -> None:
                connection.send(Working(specification, progress.words, progress.share))

            for event in attempt(specification, Path(folder), materials=materials, report=report, **options):
                connection.send(event)


def _end_with_parent() -> None:
    """End at once when the parent is killed: a lock held on would keep its successor out."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
