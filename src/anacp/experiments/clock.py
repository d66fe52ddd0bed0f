"""How much of a sweep is done, and when it will be."""

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

from anacp.experiments.events import Event, Failed, Finished, Stepped
from anacp.experiments.specification import Specification

__all__ = ["Clock"]


class Clock:
    """Weighs each run by how long finished runs of its method took; a method that is still unknown counts as average.

    Parameters
    ----------
    specifications : iterable of Specification
        All runs, those that were finished before included.
    """

    def __init__(self, specifications: Iterable[Specification]) -> None:
        self._kind = {one.folder: (one.dataset, one.title) for one in specifications}
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
        average = sum(means.values()) / len(means) if means else 1.0
        return {run: means.get(self._kind[run], average) for run in runs}
