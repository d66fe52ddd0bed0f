"""Many runs: those finished before are read, the others run side by side, and one that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

from anacp.errors import ParameterError
from anacp.experiments.events import Event, Failed, Finished, Stepped, Working
from anacp.experiments.machine import cores, default_jobs, expected_bytes
from anacp.experiments.material import Materials
from anacp.experiments.results import load_runs
from anacp.experiments.run_folder import RunFolder
from anacp.experiments.runner import CHECKPOINT_SECONDS
from anacp.experiments.specification import Specification
from anacp.experiments.twins import finished_twins, substance
from anacp.experiments.workers import attempt, side_by_side
from anacp.progress import Report

Crew = Callable[[list[tuple[Specification, Path]], dict[str, Any]], Iterator[Event]]


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
    reuse: str | Path | None = None,
    report: Callable[[Working], None] | None = None,
    crew: Crew | None = None,
) -> Generator[Status, None, None]:
    """Run every specification in a folder of its own below `folder`; see `run`.

    Nothing runs before every specification was checked against its data and its folder. Features are extracted, and
    backbones adapted, once for all, by the first run that needs them; others that need the same wait for it. Runs that
    differ in nothing but what they are called are computed once.

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
    reuse : path, optional
        A folder of finished runs; those that differ from one of these in nothing but what they are called are not
        computed again.
    report : callable, optional
        Told what takes long between steps.
    crew : callable, optional
        Who runs them in place of processes of this machine: of pairs of a specification and its folder, and of options
        of `run`, it yields what happens (`anacp.cluster.runs_on`).
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
    twins = {} if reuse is None else finished_twins(load_runs(reuse, left_out=[]))
    twins |= finished_twins(event.result for event in kept if isinstance(event, Finished))
    first, again = _apart(waiting, twins)
    options = {"fresh": fresh, "restart_changed": restart_changed, "checkpoint_seconds": checkpoint_seconds}
    left = [specification for specification, _ in first]
    jobs = min(jobs or default_jobs(left, [sizes[one.folder] for one in left]), len(first)) if first else 1
    if jobs > 1 or crew is not None:  # the longest first, so that none is left when all others are done
        first.sort(key=lambda pair: -sizes[pair[0].folder])
    twins |= {substance(specification): path for specification, path in first}
    working = _events(first, jobs, options, materials, report) if crew is None or not first else crew(first, options)
    for event in chain(working, _events(again, 1, options, materials, report, twins)):
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
    twins: Mapping[str, Path] = MappingProxyType({}),
) -> Iterator[Event]:
    def told(specification: Specification) -> Report:
        return lambda progress: report(Working(specification, progress.words, progress.share)) if report else None

    if jobs == 1:
        for specification, path in waiting:
            told_of = {
                "materials": materials,
                "report": told(specification),
                "twin": twins.get(substance(specification)),
            }
            yield from attempt(specification, path, **told_of, **options)
        return
    yield from side_by_side(waiting, jobs=jobs, threads=max(1, cores() // jobs), options=options)


def _apart(
    waiting: list[tuple[Specification, Path]], twins: Mapping[str, Path]
) -> tuple[list[tuple[Specification, Path]], list[tuple[Specification, Path]]]:
    """Return the runs to compute, and those then told again; of twins the one that leaves most comes first."""
    computed: dict[str, tuple[Specification, Path]] = {}
    for pair in sorted(waiting, key=lambda pair: -(pair[0].keep_model + pair[0].embedding)):
        if (kind := substance(pair[0])) not in twins:
            computed.setdefault(kind, pair)
    first = [pair for pair in waiting if computed.get(substance(pair[0])) is pair]
    return first, [pair for pair in waiting if pair not in first]


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
