"""Many runs: those finished before are read, the others run side by side, and one that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from anacp.errors import ParameterError
from anacp.experiments.events import Event, Failed, Finished, Stepped, Working
from anacp.experiments.machine import cores, default_jobs, expected_bytes
from anacp.experiments.material import Materials
from anacp.experiments.run_folder import RunFolder
from anacp.experiments.runner import CHECKPOINT_SECONDS
from anacp.experiments.specification import Specification
from anacp.experiments.workers import attempt, side_by_side
from anacp.progress import Report


@dataclass(frozen=True, eq=False)
class Status:
    """Something that happened, and how far the whole sweep is now."""

    event: Event
    share: float  # from 0 to 1
    seconds_left: float | None  # None as long as nothing is known


class Clock:
    """Weighs each run by how long finished runs of its method took; a method that is still unknown by its size.

    Parameters
    ----------
    runs : iterable of (Specification, int)
        All of them, those that were finished before included, each with about how many bytes it keeps.
    """

    def __init__(self, runs: Iterable[tuple[Specification, int]]) -> None:
        sized = list(runs)
        self._kind = {one.folder: (one.dataset, one.title) for one, _ in sized}
        self._size = {(one.dataset, one.title): max(size, 1) for one, size in sized}
        self._share = dict.fromkeys(self._kind, 0.0)
        self._known: dict[tuple[str, str], list[float]] = {}
        self._reused: set[Path] = set()
        self._start = perf_counter()

    def tell(self, event: Event) -> None:
        """Take note of what happened."""
        run = event.specification.folder
        if isinstance(event, Stepped):
            self._share[run] = (event.step.task + 1) / event.n_steps
        elif isinstance(event, Finished):
            self._share[run] = 1.0
            spent = sum(event.result.seconds[kind] for kind in ("learn", "solve", "predict"))
            self._known.setdefault(self._kind[run], []).append(spent)
            if event.reused:
                self._reused.add(run)
        elif isinstance(event, Failed):
            self._share[run] = 1.0
            self._reused.add(run)  # says nothing of how long a whole run takes

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        weights = self._weights(self._share)
        return sum(weights[run] * share for run, share in self._share.items()) / (sum(weights.values()) or 1.0)

    @property
    def seconds_left(self) -> float | None:
        """How long it will still take; None as long as nothing is known."""
        waiting = [run for run in self._share if run not in self._reused]
        weights = self._weights(waiting)
        done = sum(weights[run] * self._share[run] for run in waiting)
        if not done:
            return None
        return (perf_counter() - self._start) * (sum(weights.values()) - done) / done

    def _weights(self, runs: Iterable[Path]) -> dict[Path, float]:
        means = {kind: sum(spent) / len(spent) for kind, spent in self._known.items()}
        rate = sum(means.values()) / sum(self._size[kind] for kind in means) if means else 1.0
        return {run: means.get(self._kind[run], rate * self._size[self._kind[run]]) for run in runs}


def sweep(
    specifications: Iterable[Specification],
    folder: str | Path,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    restart_changed: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    report: Callable[[Working], None] | None = None,
) -> Generator[Status, None, None]:
    """Run every specification in a folder of its own below `folder`; see `run`.

    Nothing runs before every specification was checked against its data and its folder. Features are extracted, and
    backbones adapted, once for all, by the first run that needs them; others that need the same wait for it.

    Parameters
    ----------
    specifications : iterable of Specification
        What is run; no two may have the same folder.
    folder : path
        Below it, each run has the folder `specification.folder`.
    jobs : int, optional
        How many runs at a time, each in a process with its share of the cores; 1 runs them here, with all cores. By
        default as many as there are cores and memory for.
    fresh, restart_changed, checkpoint_seconds
        As for `run`.
    report : callable, optional
        Told what takes long between steps.
    """
    runs = list(specifications)
    if jobs is not None and jobs < 1:
        raise ParameterError(f"Expected at least 1 job, got {jobs}.")
    _check_distinct(runs)
    materials = Materials()
    waiting: list[tuple[Specification, Path]] = []
    kept: list[Event] = []
    for specification in runs:
        place = RunFolder(Path(folder) / specification.folder)
        materials.check(specification)
        _, fingerprint = materials.dataset(specification.dataset)
        changed = not fresh and place.changed(specification, fingerprint, refuse=not restart_changed)
        result = None if fresh or changed else place.finished()
        if result is None:
            waiting.append((specification, place.path))
        else:
            kept.append(Finished(specification, result, reused=True))
    sizes = {one.folder: expected_bytes(one, materials) for one in runs}
    clock = Clock((one, sizes[one.folder]) for one in runs)
    for event in kept:
        yield _status(event, clock)
    if not waiting:
        return
    options = {"fresh": fresh, "restart_changed": restart_changed, "checkpoint_seconds": checkpoint_seconds}
    left = [specification for specification, _ in waiting]
    jobs = min(jobs or default_jobs(left, [sizes[one.folder] for one in left]), len(waiting))
    if jobs > 1:  # the longest first, so that none is left when all others are done
        waiting.sort(key=lambda pair: -sizes[pair[0].folder])
    for event in _events(waiting, jobs, options, materials, report):
        if isinstance(event, Working):
            if report is not None:
                report(event)
        else:
            yield _status(event, clock)


def _events(
    waiting: list[tuple[Specification, Path]],
    jobs: int,
    options: dict[str, Any],
    materials: Materials,
    report: Callable[[Working], None] | None,
) -> Iterator[Event]:
    def told(specification: Specification) -> Report:
        return lambda progress: report(Working(specification, progress.words, progress.share)) if report else None

    if jobs == 1:
        for specification, path in waiting:
            yield from attempt(specification, path, materials=materials, report=told(specification), **options)
        return
    yield from side_by_side(waiting, jobs=jobs, threads=max(1, cores() // jobs), options=options)


def _status(event: Event, clock: Clock) -> Status:
    clock.tell(event)
    return Status(event, clock.share, clock.seconds_left)


def _check_distinct(runs: list[Specification]) -> None:
    seen: set[Path] = set()
    for specification in runs:
        if specification.folder in seen:
            raise ParameterError(
                f"Expected runs that can be told apart, got two of {specification.title} with seed "
                f"{specification.seed} on {specification.dataset}. Give one of them another `title`."
            )
        seen.add(specification.folder)
