"""From events to the model: each applied, taken back, or all of them anew."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from anacp.methods import Classifier, Moves
from anacp.serve.journal import Journal
from anacp.serve.records import Content, Event, Move
from anacp.serve.refusals import RefusedError

MOVING = ("learn", "forget", "relabel")  # events that are nothing but their moves
ROWS = 4096  # of features in memory at a time


def moved(
    classifier: Classifier, moves: Sequence[Move], journal: Journal, contents: Sequence[Content] = ()
) -> Classifier:
    """Return the classifier after moves; features are those of the contents given, or the journal's."""
    given = {one.digest: one.features for one in contents}
    real = [move for move in moves if move.before != move.after]
    for start in range(0, len(real), ROWS):
        some = real[start : start + ROWS]
        known = journal.features([move.digest for move in some if move.digest not in given])
        absent = [move.digest for move in some if move.digest not in given and move.digest not in known]
        if absent:
            raise RefusedError(
                409,
                "examples_elsewhere",
                f"Expected examples whose content is here, got {len(absent):,} that a model file brought.",
                "Give the photos or texts themselves, instead of their ids.",
            )
        rows = [given[move.digest] if move.digest in given else known[move.digest] for move in some]
        before, after = [move.before for move in some], [move.after for move in some]
        classifier = classifier.moved(
            Moves.of(np.stack(rows), [move.digest for move in some], before=before, after=after)
        )
    return classifier


def renamed(classifier: Classifier, old: str, new: str) -> Classifier:
    """Return the classifier with a class under another name."""
    changed = copy.copy(classifier)
    changed.rename(old, new)
    return changed


def joined(classifier: Classifier, labels: Sequence[str], into: str) -> Classifier:
    """Return the classifier with classes as one."""
    changed = copy.copy(classifier)
    changed.join(list(labels), into)
    return changed


def loaded(content: bytes) -> Classifier:
    """Return the classifier of a model file's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        return Classifier.load(path)  # stays readable when the file is gone


def merged(classifier: Classifier, other: Classifier, shared: Sequence[Move], journal: Journal) -> Classifier:
    """Return the classifier that learned the examples of both, those of `shared` once."""
    return classifier + moved(other, shared, journal)


def without(classifier: Classifier, event: Event, journal: Journal) -> Classifier | None:
    """Return the classifier before its last event; None if only all events before it tell."""
    if event.what in MOVING:
        return moved(classifier, [move.back for move in journal.moves(event.version)], journal)
    if event.what == "rename":
        return renamed(classifier, event.detail["new"], event.detail["old"])
    if event.what == "join":
        moves = journal.moves(event.version)
        if len(moves) == event.n:  # each example is at hand
            return moved(classifier, [move.back for move in moves], journal)
    return None


def with_event(classifier: Classifier, event: Event, journal: Journal) -> Classifier:
    """Return the classifier after one more event."""
    if event.what in MOVING:
        return moved(classifier, journal.moves(event.version), journal)
    if event.what == "rename":
        return renamed(classifier, event.detail["old"], event.detail["new"])
    if event.what == "join":
        return joined(classifier, event.detail["labels"], event.detail["into"])
    content = journal.model(event.version)
    assert content is not None, f"the model of event {event.version} is missing"
    other = loaded(content)
    if event.what == "open":
        return other
    shared = [Move(bytes.fromhex(digest), label, None) for digest, label in event.detail["shared"]]
    return merged(classifier, other, shared, journal)


def replayed(
    empty: Classifier,
    journal: Journal,
    versions: Sequence[int],
    then: Sequence[Move] = (),
    contents: Sequence[Content] = (),
) -> Classifier:
    """Return the classifier after the events of these versions, and more moves.

    Moves that follow each other are made at once: an example that came and went in between leaves no trace, not even of
    rounding.
    """
    classifier, waiting = empty, dict[bytes, Move]()

    def note(moves: Sequence[Move]) -> None:
        for move in moves:
            first = waiting.get(move.digest, move)
            waiting[move.digest] = Move(move.digest, first.before, move.after)

    for version in versions:
        event = journal.event(version)
        if event.what in MOVING:
            note(journal.moves(version))
            continue
        classifier = moved(classifier, list(waiting.values()), journal)
        waiting.clear()
        classifier = with_event(classifier, event, journal)
    note(then)
    return moved(classifier, list(waiting.values()), journal, contents)
