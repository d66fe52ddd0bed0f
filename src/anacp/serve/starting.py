"""From a model file and a journal to what is known: the last checkpoint, and what came after it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from sklearn.base import clone

from anacp.errors import MismatchError, MissingDataError, NumericalError
from anacp.files import open_regular
from anacp.methods import Classifier, find_method
from anacp.serve.changes import State
from anacp.serve.journal import Journal
from anacp.serve.records import Event, Move, Stack
from anacp.serve.replaying import replayed, without


def started(model: Path, journal: Journal, empty: Classifier | None) -> tuple[Classifier, State]:
    """Return an empty classifier of the same kind, and what is known.

    A model file that was not written from this journal is taken in as an event: what another command has learned since,
    or before there was a journal.
    """
    classifier = Classifier.load(model) if model.exists() else None
    if classifier is not None:
        _check_labels(classifier, model)
        empty = Classifier(classifier.encoder, clone(classifier.learner))
    else:
        empty = _begun(journal) or empty
    if empty is None:
        raise MissingDataError(f"Expected a model at {model}, got none. Say what it is to learn: photos, or --texts.")
    _check_kind(journal, empty)
    events = journal.events()
    version = None if classifier is None else journal.checkpoint(file_digest(model))
    if classifier is not None and version is None:
        return empty, _taken_in(model, classifier, journal, events)
    stack = Stack.of(events)
    last = events[-1].version if events else 0
    opened = {event.version for event in events if event.what == "open"}
    floor = max((place for place, done in enumerate(stack.done, 1) if done in opened), default=0)
    if classifier is None or version is None:
        return empty, State(last, replayed(empty, journal, stack.done), stack, floor)
    before = Stack.of([event for event in events if event.version <= version])
    return empty, State(last, _caught_up(classifier, before, stack, empty, journal), stack, floor)


def _begun(journal: Journal) -> Classifier | None:
    """Return what a model began as that was never saved."""
    stated = journal.fact("model")
    if stated is None:
        return None
    facts = json.loads(stated)
    return Classifier(facts["backbone"], find_method(facts["learner"]).make(**facts["parameters"]))


def _check_kind(journal: Journal, empty: Classifier) -> None:
    """Note what the features of a journal are, and refuse any other."""
    learner = empty.learner
    facts = {"backbone": empty.encoder.name, "learner": type(learner).__name__, "parameters": learner.get_params()}
    journal.state("model", json.dumps(facts))
    if journal.fact("features") is None:
        journal.state("features", empty.encoder.fingerprint)
    if journal.fact("features") != empty.encoder.fingerprint:
        raise MismatchError(
            f"Expected the backbone that {journal.path} was made with, got {empty.encoder.name} with other weights, "
            "layers or adaptation. Move the journal away to begin another one."
        )


def _caught_up(classifier: Classifier, before: Stack, now: Stack, empty: Classifier, journal: Journal) -> Classifier:
    """Return the classifier of a checkpoint after what happened since."""
    shared = next((at for at, (one, two) in enumerate(zip(before.done, now.done, strict=False)) if one != two), None)
    shared = min(len(before.done), len(now.done)) if shared is None else shared
    try:
        for version in reversed(before.done[shared:]):
            earlier = without(classifier, journal.event(version), journal)
            if earlier is None:
                return replayed(empty, journal, now.done)
            classifier = earlier
        return replayed(classifier, journal, now.done[shared:])
    except NumericalError:
        return replayed(empty, journal, now.done)


def _taken_in(model: Path, classifier: Classifier, journal: Journal, events: list[Event]) -> State:
    """Note a model file that came from elsewhere; of the examples those stay that it holds as what they are."""
    rows = journal.rows("SELECT digest, label FROM examples")
    moves = []
    for digest, label in rows:
        labels = classifier.known_as(digest)
        if label not in labels:
            moves.append(Move(digest, label, labels[0] if labels else None))
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    version = (events[-1].version if events else 0) + 1
    event = Event(version, "open", now, classifier.n_examples, classifier.classes_.tolist()[:20])
    content = model.read_bytes()
    journal.append(event, moves=moves, model=content)
    journal.checkpointed(version, hashlib.blake2b(content, digest_size=16).hexdigest())
    stack = Stack.of([*events, event])
    return State(version, classifier, stack, len(stack.done))


def _check_labels(classifier: Classifier, model: Path) -> None:
    if classifier.classes_.dtype.kind not in "UO":
        raise MismatchError(
            f"Expected a model whose labels are texts, got numbers in {model}. Learn it anew with labels that are "
            "texts."
        )


def file_digest(path: Path) -> str:
    """Return a hash of a file."""
    digest = hashlib.blake2b(digest_size=16)
    with open_regular(path) as file:
        while part := file.read(2**20):
            digest.update(part)
    return digest.hexdigest()
