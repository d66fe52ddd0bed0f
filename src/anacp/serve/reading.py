"""What people look at: examples, classes, history, the pile; from the journal, at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.serve.journal import Journal
from anacp.serve.records import Digest, Event, Example, Stack

COLUMNS = "examples.digest, examples.label, contents.name, contents.text"
SHOWN = f"SELECT {COLUMNS} FROM examples JOIN contents USING (digest)"
# What is on the pile and no example: labelling takes it off, taking the label back puts it on again.
ON_PILE = "FROM pile JOIN contents USING (digest) WHERE digest NOT IN (SELECT digest FROM examples)"


def examples(journal: Journal, label: str | None, offset: int, limit: int) -> tuple[list[Example], int]:
    """Return some examples, of a class or of all, the latest first, and how many there are."""
    where, given = ("", []) if label is None else ("WHERE label = ?", [label])
    rows = journal.rows(
        f"{SHOWN} {where} ORDER BY since DESC, examples.digest LIMIT ? OFFSET ?", [*given, limit, offset]
    )
    total = journal.rows(f"SELECT count(*) FROM examples {where}", given)[0][0]
    return [Example(*row) for row in rows], int(total)


def shown_examples(journal: Journal, digests: Sequence[Digest]) -> list[Example]:
    """Return examples in the order of their digests; those that are gone are left out."""
    found = {}
    for start in range(0, len(digests), 500):
        some = list(digests[start : start + 500])
        rows = journal.rows(f"{SHOWN} WHERE examples.digest IN ({','.join('?' * len(some))})", some)
        found.update({row[0]: Example(*row) for row in rows})
    return [found[digest] for digest in digests if digest in found]


def features(journal: Journal) -> tuple[list[Digest], list[str], NDArray[np.float32]]:
    """Return digests, labels and features (n, d) of all examples, in the order of their digests."""
    rows = journal.rows("SELECT digest, label, features FROM examples JOIN contents USING (digest) ORDER BY digest")
    x = np.stack([np.frombuffer(row[2], "<f4") for row in rows]) if rows else np.empty((0, 0), np.float32)
    return [row[0] for row in rows], [row[1] for row in rows], x


def pile(journal: Journal) -> tuple[list[Example], NDArray[np.float32]]:
    """Return what waits for a label, the oldest first, with its features."""
    rows = journal.rows(f"SELECT digest, name, text, features {ON_PILE} ORDER BY place")
    x = np.stack([np.frombuffer(row[3], "<f4") for row in rows]) if rows else np.empty((0, 0), np.float32)
    return [Example(row[0], None, row[1], row[2]) for row in rows], x


def n_on_pile(journal: Journal) -> int:
    """Return how many contents wait for a label."""
    return int(journal.rows(f"SELECT count(*) {ON_PILE}")[0][0])


def on_pile(journal: Journal, digest: Digest) -> bool:
    """Say whether a content waits for a label."""
    return bool(journal.rows(f"SELECT 1 {ON_PILE} AND digest = ?", [digest]))


def picture(journal: Journal, digest: Digest) -> bytes | None:
    """Return the small picture of a content."""
    rows = journal.rows("SELECT thumbnail FROM contents WHERE digest = ?", [digest])
    return rows[0][0] if rows else None


def history(journal: Journal, stack: Stack, limit: int) -> list[tuple[Event, bool]]:
    """Return the latest changes, the latest first, and whether each was taken back; not the taking back itself."""
    rows = journal.rows(
        "SELECT version FROM events WHERE what NOT IN ('undo', 'redo') ORDER BY version DESC LIMIT ?", [limit]
    )
    done = set(stack.done)
    return [(journal.event(row[0]), row[0] not in done) for row in rows]


def facts_of(event: Event) -> dict[str, Any]:
    """Return what a client is told of a change."""
    return {
        "version": event.version,
        "what": event.what,
        "when": event.happened,
        "n": event.n,
        "classes": list(event.classes),
        **({"of": event.of} if event.of is not None else {}),
    }
