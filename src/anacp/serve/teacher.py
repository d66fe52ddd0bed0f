"""The one who changes what is known: first in the journal, then for everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anacp.errors import NumericalError
from anacp.methods import Classifier
from anacp.serve.changes import Change, State, check_label
from anacp.serve.going_back import GoingBack
from anacp.serve.journal import Also
from anacp.serve.records import Content, Digest, Move, What
from anacp.serve.refusals import RefusedError, missing
from anacp.serve.replaying import joined, loaded, merged, moved, renamed, replayed


class Teacher(GoingBack):
    """The one who changes a model.

    Changes come one at a time. Each is computed first, which may fail; then it is in the journal, on disk; then it is
    what everybody sees. So a change is whole or not at all, and what was answered stays.
    """

    # Examples -----------------------------------------------------------------------------------------------------

    def learn(
        self,
        contents: Sequence[Content],
        labels: Sequence[str],
        *,
        expected: int | None = None,
        source: str = "",
        also: Also | None = None,
    ) -> Change:
        """Learn contents, each as one class; what is in another class moves, what is in that one already stays.

        What `also` writes is on disk together with the change, and so it is if nothing is left to change.
        """
        for label in set(labels):
            check_label(label)
        targets = {one.digest: label for one, label in zip(contents, labels, strict=True)}
        return self._move("learn", targets, contents, expected, source, also)

    def learn_known(self, targets: Mapping[Digest, str], *, expected: int | None = None) -> Change:
        """Learn contents that the journal has already, each as one class."""
        for label in set(targets.values()):
            check_label(label)
        return self._move("learn", targets, (), expected)

    def forget(
        self,
        digests: Sequence[Digest],
        contents: Sequence[Content] = (),
        *,
        expected: int | None = None,
        also: Also | None = None,
    ) -> Change:
        """Forget examples; what is not known is passed over. `also` is as for `learn`."""
        return self._move("forget", dict.fromkeys(digests), contents, expected, also=also)

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
        also: Also | None = None,
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
                if also is not None:
                    with self.journal.writing() as write:
                        also(write)
                return Change(state.version, known=known)
            fresh = [one for one in contents if one.digest in {move.digest for move in moves}]
            classifier = self._moved(state, moves, fresh)
            touched = sorted({label for move in moves for label in (move.before, move.after) if label is not None})
            event = self._event(what, len(moves), touched, {"source": source} if source else {})
            self.journal.append(event, moves=moves, contents=fresh, also=also)
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
