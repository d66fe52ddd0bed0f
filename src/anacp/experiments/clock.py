"""How much of a sweep is done, and when it will be."""

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

from anacp.experiments.events import Event, Failed, Finished, Stepped
from anacp.experiments.specification import Specification

__all__ = ["Clock"]


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
