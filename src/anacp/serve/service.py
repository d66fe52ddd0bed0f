"""A model that is being taught and asked: journal, teacher, solver and gatherer as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from anacp.errors import DiskError
from anacp.files import locked, replacing
from anacp.items import thumbnail
from anacp.methods import Classifier
from anacp.serve.annotations import Annotations
from anacp.serve.batching import Gatherer, Seen
from anacp.serve.changes import State
from anacp.serve.journal import Journal
from anacp.serve.pile import Pile
from anacp.serve.records import Content
from anacp.serve.saving import Saver
from anacp.serve.solving import Snapshot, Solver, settled, solved
from anacp.serve.starting import file_digest, started
from anacp.serve.teacher import Teacher
from anacp.serve.working import Worker

THUMBNAIL = 256  # pixels of the longer side
LONGEST_NAME = 200


class Service:
    """One model, kept to this process, with everything that changes it and answers from it.

    Parameters
    ----------
    model : path
        The model file; its journal lies beside it, as NAME.journal.
    empty : Classifier, optional
        What a model that is not there yet begins as.
    """

    def __init__(self, model: Path, empty: Classifier | None = None) -> None:
        self.model = model
        self._closing = ExitStack()
        with ExitStack() as opening:
            opening.enter_context(locked(model))
            self.journal = Journal(model.with_name(f"{model.name}.journal"))
            opening.callback(self.journal.close)
            empty, state = started(model, self.journal, empty)
            self._listeners: list[Callable[[int, int], None]] = []
            self._saved = state.version if model.exists() else -1
            self.solver, self.saver = Solver(state, self._solved), Saver(self._saved, self.save)
            self.teacher = Teacher(self.journal, empty, state, self._changed)
            self.pile, self.annotations = Pile(self.teacher), Annotations(self.teacher)
            self.encoder = state.classifier.encoder
            self.gatherer = Gatherer(self.encoder, self.answering)
            self.worker = Worker(self)
            self._closing = opening.pop_all()
        for thread in (self.solver, self.saver, self.gatherer, self.worker):
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def modality(self) -> str:
        """What goes in: "image" or "text"."""
        return self.encoder.modality

    @property
    def state(self) -> State:
        """What is known now."""
        return self.teacher.state

    @property
    def snapshot(self) -> Snapshot:
        """What answers now: the newest version that has probabilities and tells the unknown."""
        return self.solver.snapshot

    def answering(self, *, early: bool = False) -> Snapshot:
        """Return what answers now; early, the newest version that says which labels are likelier."""
        return self.solver.newest if early else self.solver.snapshot

    def listen(self, listener: Callable[[int, int], None]) -> None:
        """Have someone told of each change: the version, and the version that answers."""
        self._listeners.append(listener)

    def _changed(self, state: State) -> None:
        self.solver.give(state)
        self._tell(state.version, self.solver.snapshot.version)

    def _solved(self, snapshot: Snapshot) -> None:
        self._tell(self.teacher.state.version, self.solver.snapshot.version)
        if snapshot.settled:
            self.saver.give(snapshot)

    def _tell(self, version: int, solved: int) -> None:
        for listener in self._listeners:
            listener(version, solved)

    def known(self, items: Sequence[Any]) -> list[str | None]:
        """Return as what items are known, by their content alone."""
        digests = self.encoder.digests(items)
        labels = self.journal.labels(digests)
        return [labels.get(digest) for digest in digests]

    def contents(self, items: Sequence[Any], names: Sequence[str], seen: Seen) -> list[Content]:
        """Return what is kept of items that could be read."""
        made: dict[bytes, Content] = {}
        for item, name, digest, row in zip(items, names, seen.digests, seen.rows, strict=True):
            if row is not None and digest not in made:
                text = item if isinstance(item, str) else None
                picture = None if isinstance(item, str) else thumbnail(item, THUMBNAIL)
                made[digest] = Content(digest, name[:LONGEST_NAME], text, picture, row)
        return list(made.values())

    def save(self, snapshot: Snapshot) -> None:
        """Write the model file; the journal then knows which version it has."""
        if snapshot.classifier is None or snapshot.version == self._saved:
            return
        with replacing(self.model) as temporary:
            snapshot.classifier.save(temporary, exact=True)
            self.journal.checkpointed(snapshot.version, file_digest(temporary))
        self._saved = snapshot.version

    def close(self) -> None:
        """Stop the threads, save the model, and let go of the files."""
        with self._closing:
            self.worker.end()
            self.gatherer.stop()
            self.solver.stop()
            self.saver.stop()
            newest = self.teacher.state
            last = self.snapshot if self.snapshot.version == newest.version else settled(solved(newest))
            try:
                self.save(last)
            except DiskError as problem:
                raise DiskError(
                    f"{problem} Nothing is lost: {self.journal.path} has all that was answered, and the next start "
                    "takes it from there."
                ) from problem
