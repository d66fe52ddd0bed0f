"""Many runs: those finished before are read, the others run side by side, and one that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anacp.errors import ParameterError
from anacp.experiments.clock import Clock
from anacp.experiments.events import Event, Finished, Working
from anacp.experiments.material import Materials
from anacp.experiments.resources import cores, default_jobs, expected_bytes
from anacp.experiments.run_folder import RunFolder
from anacp.experiments.runner import CHECKPOINT_SECONDS
from anacp.experiments.specification import Specification
from anacp.experiments.workers import attempt, side_by_side

__all__ = ["Status", "sweep"]


@dataclass(frozen=True, eq=False)
class Status:
    """Something that happened, and how far the whole sweep is now."""

    event: Event
    share: float  # from 0 to 1
    seconds_left: float | None  # None as long as nothing is known


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
    options: dict[str, Any] = {
        "fresh": fresh,
        "restart_changed": restart_changed,
        "checkpoint_seconds": checkpoint_seconds,
    }
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
    def told(specification: Specification) -> Callable[[float, str], None]:
        return lambda share, words: report(Working(specification, words, share)) if report else None

    if jobs == 1:
        for specification, path in waiting:
            yield from attempt(specification, path, materials=materials, report=told(specification), **options)
        return
    yield from side_by_side(waiting, jobs=jobs, threads=max(1, cores() // jobs), options=options)


def _status(event: Event, clock: Clock) -> Status:
    clock.tell(event)
    return Status(event, clock.share, clock.seconds_left)


def _check_distinct(runs: list[Specification]) -> None:
    seen: dict[Path, Specification] = {}
    for specification in runs:
        if specification.folder in seen:
            raise ParameterError(
                f"Expected runs that can be told apart, got two of {specification.title} with seed "
                f"{specification.seed} on {specification.dataset}. Give one of them another `title`."
            )
        seen[specification.folder] = specification
