"""Long work: a folder of photos, or a table of texts, learned piece by piece, shown, stoppable, resumed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from anacp.datasets import Labelled, read_labelled
from anacp.errors import AnacpError, DiskError
from anacp.items import EncodedImage, HeldImage

if TYPE_CHECKING:
    from anacp.serve.service import Service

AT_ONCE = 16  # examples that are learned together: others get their turn in between
AGAIN = 5.0  # seconds until what a full disk stopped is tried again
JobState = Literal["running", "done", "stopped", "failed"]


@dataclass(frozen=True)
class Job:
    """How far a piece of work is."""

    id: int
    folder: str
    state: JobState
    done: int = 0
    total: int = 0
    problem: str | None = None
    seconds_left: float | None = None


class Worker(threading.Thread):
    """Does the jobs of a service, one after the other; those that a stop or a kill broke off go on at the next start.

    Examples that are known already are passed over by their content, so that going on costs no more than reading them.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(name="anacp-worker", daemon=True)
        self._service, self._journal = service, service.journal
        self._wakes, self._lock = threading.Event(), threading.Lock()
        self._ending = False
        rows = self._journal.rows("SELECT id, folder, state, done, total, problem FROM jobs ORDER BY id")
        self._jobs: dict[int, Job] = {row[0]: Job(*row) for row in rows}

    def add(self, folder: str) -> Job:
        """Have a folder learned; what is being learned from there already is not begun twice."""
        with self._lock:
            for job in self._jobs.values():
                if job.folder == folder and job.state == "running":
                    return job
            job = Job(max(self._jobs, default=0) + 1, folder, "running")
            self._note(job)
            self._wakes.set()
            return job

    def jobs(self) -> list[Job]:
        """Return all jobs, the latest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.id)

    def stop(self, number: int) -> Job | None:
        """Stop a job after the examples that are being learned; what was learned stays."""
        with self._lock:
            job = self._jobs.get(number)
            if job is not None and job.state == "running":
                job = replace(job, state="stopped", seconds_left=None)
                self._note(job)
            return job

    def end(self) -> None:
        """End the thread; jobs that run go on at the next start."""
        self._ending = True
        self._wakes.set()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """Do what is to be done, again and again."""
        while True:
            self._wakes.clear()
            if self._ending:
                return
            running = [job for job in reversed(self.jobs()) if job.state == "running"]
            if not running:
                self._wakes.wait()
                continue
            try:
                self._do(running[0])
            except DiskError as problem:  # the journal's: what was learned stays, and it goes on when there is room
                self._wait(running[0], str(problem))

    def _wait(self, job: Job, problem: str) -> None:
        with self._lock:
            self._jobs[job.id] = replace(self._jobs[job.id], problem=problem, seconds_left=None)
        self._wakes.wait(AGAIN)

    def _do(self, job: Job) -> None:
        try:
            found = read_labelled(job.folder, on_error="skip", modality=self._service.modality)
            done = self._learn(job, found)
            with self._lock:
                if done and self._jobs[job.id].state == "running":
                    self._note(replace(self._jobs[job.id], state="done", seconds_left=0.0))
        except DiskError:
            raise
        except (AnacpError, OSError) as problem:
            with self._lock:
                self._note(replace(self._jobs[job.id], state="failed", problem=str(problem), seconds_left=None))

    def _learn(self, job: Job, found: Labelled) -> bool:
        start, total = monotonic(), len(found.items)
        for first in range(0, total, AT_ONCE):
            if self._ending or self._jobs[job.id].state != "running":
                return False
            place = slice(first, first + AT_ONCE)
            self._piece(list(found.items[place]), [str(label) for label in found.labels[place]])
            done = min(first + AT_ONCE, total)
            left = (monotonic() - start) / done * (total - done)
            with self._lock:
                if self._jobs[job.id].state == "running":
                    now = replace(self._jobs[job.id], done=done, total=total, seconds_left=round(left, 1))
                    self._note(replace(now, problem=None))
        return True

    def _piece(self, items: Sequence[Any], labels: Sequence[str]) -> None:
        """Learn some examples; what cannot be read is left out."""
        service = self._service
        held, names, kept = [], [], []
        for item, label in zip(items, labels, strict=True):
            try:
                held.append(HeldImage(item.name, item.read()) if isinstance(item, EncodedImage) else item)
            except (AnacpError, OSError):
                continue
            names.append(str(getattr(item, "name", item)))
            kept.append(label)
        if not held:
            return
        known = service.known(held)
        new = [place for place, label in enumerate(kept) if known[place] != label]
        if not new:
            return
        items, names = [held[place] for place in new], [names[place] for place in new]
        seen = service.gatherer.see(items).result()
        label_of = {digest: kept[place] for digest, place in zip(seen.digests, new, strict=True)}
        contents = service.contents(items, names, seen)
        service.teacher.learn(contents, [label_of[one.digest] for one in contents], source="a folder")

    def _note(self, job: Job) -> None:
        row = job.id, job.folder, job.state, job.done, job.total, job.problem
        with self._service.teacher.alone(), self._journal.writing() as write:
            write("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?)", row)
        self._jobs[job.id] = job
