"""What is known now, and the one who changes it: first in the journal, then for everybody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from anacp.errors import InputError, NumericalError
from anacp.methods import Classifier
from anacp.serve.journal import Journal
from anacp.serve.records import Content, Digest, Event, Move, Stack, What
from anacp.serve.refusals import RefusedError, missing
from anacp.serve.replaying import joined, loaded, merged, moved, renamed, replayed, with_event, without

LONGEST_LABEL = 200


@dataclass(frozen=True, eq=False)
class State:
    """One moment: a version, the classifier of it, and which events hold."""

    version: int
    classifier: Classifier
    stack: Stack
    floor: int = 0  # events that are not taken back: those up to a model file that came from elsewhere

    @property
    def can_undo(self) -> int:
        """How many changes can be taken back."""
        return len(self.stack.done) - self.floor


@dataclass(frozen=True)
class Change:
    """What a change did."""

    version: int
    new: int = 0
    known: int = 0
    forgotten: int = 0
    moved: Sequence[Move] = ()  # from one class into another
    event: Event | None = None  # none: there was nothing to do


class Teacher:
    """The one who changes a model.

    Changes come one at a time. Each is computed first, which may fail; then it is in the journal, on disk; then it is
    what everybody sees. So a change is whole or not at all, and what was answered stays.

    Parameters
    ----------
    journal : Journal
        Where events are kept.
    empty : Classifier
        One that has learned nothing, with encoder and learner as they are here.
    state : State
        What the journal's events amount to.
    announce : callable
        Called with each new state.
    """

    def __init__(self, journal: Journal, empty: Classifier, state: State, announce: Callable[[State], None]) -> None:
        self.journal, self._empty, self.state, self._announce = journal, empty, state, announce
        self._turn = threading.Lock()

    def alone(self) -> AbstractContextManager[bool]:
        """Lend the turn to whoever writes into the journal besides."""
        return self._turn

    # Examples -----------------------------------------------------------------------------------------------------

    def learn(
        self, contents: Sequence[Content], labels: Sequence[str], *, expected: int | None = None, source: str = ""
    ) -> Change:
        """Learn contents, each as one class; what is in another class moves, what is in that one already stays."""
        for label in set(labels):
            check_label(label)
        targets = {one.digest: label for one, label in zip(contents, labels, strict=True)}
        return self._move("learn", targets, contents, expected, source)

    def forget(
        self, digests: Sequence[Digest], contents: Sequence[Content] = (), *, expected: int | None = None
    ) -> Change:
        """Forget examples; what is not known is passed over."""
        return self._move("forget", dict.fromkeys(digests), contents, expected)

    def relabel(self, digests: Sequence[Digest], label: str, *, expected: int | None = None) -> Change:
        """Move examples into a class."""
        check_label(label)
        return self._move("relabel", dict.fromkeys(digests, label), (), expected)

    def _move(
        self,
        what: What,
        targets: Mapping[Digest, str | None],
        contents: Sequence[Content],
        expected: int | None,
        source: str = "",
    ) -> Change:
        with self._turn:
            state = self._expected(expected)
            before, here = self._labels(state, list(targets))
            absent = [digest for digest in targets if before.get(digest) is None]
            if what == "relabel" and absent:
                raise missing("an example", absent[0].hex(), "Learn it first, or leave it out.")
            moves = [
                Move(digest, before.get(digest), after)
                for digest, after in targets.items()
                if before.get(digest) != after or (after is not None and digest not in here)
            ]
            changed = [move for move in moves if move.before != move.after]
            known = len(targets) - len(changed)
            if not moves:
                return Change(state.version, known=known)
            fresh = [one for one in contents if one.digest in {move.digest for move in moves}]
            classifier = self._moved(state, moves, fresh)
            touched = sorted({label for move in moves for label in (move.before, move.after) if label is not None})
            event = self._event(what, len(moves), touched, {"source": source} if source else {})
            self.journal.append(event, moves=moves, contents=fresh)
            self._become(event, classifier)
            return Change(
                event.version,
                new=sum(move.before is None for move in changed),
                known=known,
                forgotten=sum(move.after is None for move in changed),
                moved=[move for move in changed if move.before is not None and move.after is not None],
                event=event,
            )

    def _labels(self, state: State, digests: Sequence[Digest]) -> tuple[dict[Digest, str | None], set[Digest]]:
        """Return as what contents are known, and those of which the journal knows it; others a model file brought."""
        labels: dict[Digest, str | None] = dict(self.journal.labels(digests))
        here = set(labels)
        for digest in digests:
            if digest not in here:
                labels[digest] = next(iter(state.classifier.known_as(digest)), None)
        return labels, here

    def _moved(self, state: State, moves: Sequence[Move], contents: Sequence[Content]) -> Classifier:
        try:
            return moved(state.classifier, moves, self.journal, contents)
        except NumericalError:  # too much rounding to subtract from: then from the beginning, without what went
            return replayed(self._empty, self.journal, state.stack.done, moves, contents)

    # The pile -----------------------------------------------------------------------------------------------------

    def put_on_pile(self, contents: Sequence[Content]) -> int:
        """Keep contents that have no label yet; return how many were new."""
        with self._turn:
            return self.journal.put_on_pile(contents)

    def take_off_pile(self, digest: Digest) -> bool:
        """Remove a content from the pile; say whether it was there."""
        with self._turn:
            return self.journal.take_off_pile(digest)

    def label_pile(self, digest: Digest, label: str, *, expected: int | None = None) -> Change:
        """Learn a content of the pile as a class; taking that back puts it on the pile again."""
        check_label(label)
        if not self.journal.rows("SELECT 1 FROM pile WHERE digest = ?", [digest]):
            raise missing("something on the pile", digest.hex(), "GET /v1/pile lists it.")
        return self._move("learn", {digest: label}, (), expected)

    # Annotations --------------------------------------------------------------------------------------------------

    def annotate(self, annotation: str, content: Content, label: str) -> Change:
        """Learn what an annotation says, and remember which content it is about: its end is told by its id alone."""
        change = self.learn([content], [label], source="annotation")
        with self._turn, self.journal.writing() as write:
            write("INSERT OR REPLACE INTO annotations VALUES (?, ?)", (annotation, content.digest))
        return change

    def unannotate(self, annotations: Sequence[str]) -> Change:
        """Forget what annotations said that are gone, unless others say something of the same content."""
        digests = []
        with self._turn, self.journal.writing() as write:
            for annotation in annotations:
                digests += [row[0] for row in write("SELECT digest FROM annotations WHERE id = ?", [annotation])]
                write("DELETE FROM annotations WHERE id = ?", [annotation])
            gone = [one for one in digests if not write("SELECT 1 FROM annotations WHERE digest = ?", [one]).fetchall()]
        return self.forget(gone)

    # Classes ------------------------------------------------------------------------------------------------------

    def rename(self, old: str, new: str, *, expected: int | None = None) -> Change:
        """Give a class another name."""
        check_label(new)
        with self._turn:
            state = self._expected(expected)
            self._check_classes(state, [old])
            if old == new:
                return Change(state.version)
            classifier = renamed(state.classifier, old, new)
            event = self._event("rename", state.classifier.n_examples_of(old), [old, new], {"old": old, "new": new})
            self.journal.append(event, renamed=(old, new))
            return self._become(event, classifier)

    def join(self, labels: Sequence[str], into: str, *, expected: int | None = None) -> Change:
        """Make classes one."""
        check_label(into)
        with self._turn:
            state = self._expected(expected)
            self._check_classes(state, labels)
            if set(labels) <= {into}:
                return Change(state.version)
            classifier = joined(state.classifier, labels, into)
            touched = sorted({*labels, into})
            moves = [
                Move(digest, label, into)
                for label in sorted(set(labels) - {into})
                for digest in self.journal.digests(label)
            ]
            n = sum(state.classifier.n_examples_of(label) for label in set(labels) - {into})
            event = self._event("join", n, touched, {"labels": sorted(set(labels)), "into": into})
            self.journal.append(event, moves=moves)
            return self._become(event, classifier)

    def delete_class(self, label: str, *, expected: int | None = None) -> Change:
        """Forget all examples of a class."""
        state = self._expected(expected)
        self._check_classes(state, [label])
        digests = self.journal.digests(label)
        n = state.classifier.n_examples_of(label)
        if n > len(digests):
            raise RefusedError(
                409,
                "examples_elsewhere",
                f"Expected the examples of {label!r} to be here, got {n - len(digests):,} that a model file brought.",
                "Forget these by giving them: POST /v1/forget with the photos or texts.",
            )
        return self.forget(digests, expected=state.version)  # who taught meanwhile is not passed over

    # Models -------------------------------------------------------------------------------------------------------

    def overlap(self, other: Classifier) -> list[Move]:
        """Return what takes examples out of another model that are known here: what was taught here counts."""
        digests = [row[0] for row in self.journal.rows("SELECT digest FROM examples")]
        return [Move(digest, label, None) for digest in digests for label in other.known_as(digest)]

    def merge(self, content: bytes, *, expected: int | None = None) -> Change:
        """Learn all that another model has learned, from its file."""
        other = loaded(content)
        with self._turn:
            state = self._expected(expected)
            shared = self.overlap(other)
            classes, n = other.classes_.tolist(), other.n_examples - len(shared)
            if not n:
                return Change(state.version, known=len(shared))
            detail = {"shared": [[move.digest.hex(), move.before] for move in shared]}
            classifier = merged(state.classifier, other, shared, self.journal)
            event = self._event("merge", n, classes, detail)
            self.journal.append(event, model=content)
            self._become(event, classifier)
            return Change(event.version, new=n, known=len(shared), event=event)

    # Undo ---------------------------------------------------------------------------------------------------------

    def undo(self, steps: int = 1, *, expected: int | None = None) -> Change:
        """Take the last changes back, exactly."""
        return self._back_and_forth("undo", steps, expected)

    def redo(self, steps: int = 1, *, expected: int | None = None) -> Change:
        """Make changes again that were taken back last."""
        return self._back_and_forth("redo", steps, expected)

    def _back_and_forth(self, what: What, steps: int, expected: int | None) -> Change:
        with self._turn:
            state = self._expected(expected)
            possible = state.can_undo if what == "undo" else len(state.stack.undone)
            if not 1 <= steps <= possible:
                raise RefusedError(
                    409,
                    f"nothing_to_{what}",
                    f"Expected from 1 to {possible} changes to {what}, got {steps}.",
                    "Look at /v1/history." if possible else "There is none.",
                )
            for _ in range(steps):
                done = self._one_back(self.state) if what == "undo" else self._one_forth(self.state)
        return done

    def _one_back(self, state: State) -> Change:
        last = self.journal.event(state.stack.done[-1])
        try:
            classifier = without(state.classifier, last, self.journal)
        except NumericalError:
            classifier = None
        if classifier is None:
            classifier = replayed(self._empty, self.journal, state.stack.done[:-1])
        event = self._event("undo", last.n, last.classes, of=last.version)
        moves = [move.back for move in self.journal.moves(last.version)]
        names = (last.detail["new"], last.detail["old"]) if last.what == "rename" else None
        self.journal.append(event, moves=moves, renamed=names)
        return self._become(event, classifier)

    def _one_forth(self, state: State) -> Change:
        again = self.journal.event(state.stack.undone[-1])
        try:
            classifier = with_event(state.classifier, again, self.journal)
        except NumericalError:
            classifier = replayed(self._empty, self.journal, (*state.stack.done, again.version))
        event = self._event("redo", again.n, again.classes, of=again.version)
        names = (again.detail["old"], again.detail["new"]) if again.what == "rename" else None
        self.journal.append(event, moves=self.journal.moves(again.version), renamed=names)
        return self._become(event, classifier)

    # The moment ---------------------------------------------------------------------------------------------------

    def _expected(self, version: int | None) -> State:
        """Return the state, if it is the one that a client knows."""
        state = self.state
        if version is not None and version != state.version:
            raise RefusedError(
                412,
                "changed_meanwhile",
                f"Expected the model to be at version {version}, got {state.version}: somebody else taught it.",
                "Look at it again, then decide.",
            )
        return state

    def _check_classes(self, state: State, labels: Sequence[str]) -> None:
        if not labels:
            raise InputError("Expected at least one class, got none. Name some.")
        for label in labels:
            if not state.classifier.n_examples_of(label):
                raise missing("a class", label, "GET /v1/classes lists them.")

    def _event(
        self,
        what: What,
        n: int,
        classes: Sequence[str],
        detail: Mapping[str, object] | None = None,
        of: int | None = None,
    ) -> Event:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return Event(self.state.version + 1, what, now, n, classes, detail or {}, of)

    def _become(self, event: Event, classifier: Classifier) -> Change:
        self.state = replace(
            self.state, version=event.version, classifier=classifier, stack=self.state.stack.after(event)
        )
        self._announce(self.state)
        return Change(event.version, event=event)


def check_label(label: str) -> None:
    """Refuse what cannot be the name of a class."""
    if not label.strip() or len(label) > LONGEST_LABEL or "\x00" in label or not label.isprintable():
        raise InputError(
            f"Expected a label of 1 to {LONGEST_LABEL} printable characters, got {label[:LONGEST_LABEL]!r}. "
            "Choose another."
        )
