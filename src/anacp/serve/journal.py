"""The journal beside a model: every change in SQLite, on disk before it is answered."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import DiskError, ModelFileError
from anacp.serve.records import Content, Digest, Event, Example, Move
from anacp.serve.schema import FORMAT, SCHEMA

AT_ONCE = 500  # digests of one question: SQLite allows about a thousand variables
Also = Callable[[Any], None]  # executes statements of its own in a transaction
EVENT = "version, what, happened, n, classes, detail, of"


class Journal:
    """One SQLite file. Any number of threads may read; who writes must be alone, which the teacher sees to.

    A transaction that is committed is on disk (`synchronous=FULL`); one that is not leaves nothing.

    Parameters
    ----------
    path : path
        The file, made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._opening = threading.Lock()
        with self._said():
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(SCHEMA)
            with self.writing() as write:
                write("INSERT OR IGNORE INTO facts VALUES ('format', ?)", [str(FORMAT)])
                write("INSERT OR IGNORE INTO facts VALUES ('id', ?)", [secrets.token_hex(16)])
        self.id = str(self.fact("id"))  # tells this journal from any other that is served at the same address
        found = self.fact("format")
        if found != str(FORMAT):
            raise ModelFileError(
                f"Expected a journal of format {FORMAT}, got {found}: {path}. A newer version of anacp wrote it: "
                "install that one."
            )

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
            found.execute("PRAGMA synchronous=FULL")
            self._local.connection = found
            with self._opening:
                self._opened.append(found)
        return found

    def close(self) -> None:
        """Close the file; no thread may use it any more."""
        with self._opening:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Turn what SQLite says of the disk into one line."""
        try:
            yield
        except sqlite3.OperationalError as problem:
            raise DiskError(
                f"Expected to write {self.path}, got: {problem}. Make room on the disk, or check that it can be "
                "written; nothing was changed."
            ) from problem
        except sqlite3.DatabaseError as problem:
            raise ModelFileError(
                f"Expected a journal, got a file that is damaged or of another kind: {self.path} ({problem}). Move it "
                "away; the model file beside it has what was known at the last checkpoint."
            ) from problem

    # Writing ------------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Lend what executes statements of one transaction: all of them are on disk at the end, or none."""
        connection = self._connection
        with self._said():
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection.execute
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def append(
        self,
        event: Event,
        *,
        moves: Sequence[Move] = (),
        contents: Sequence[Content] = (),
        renamed: tuple[str, str] | None = None,
        model: bytes | None = None,
        also: Also | None = None,
    ) -> None:
        """Write an event, what follows from it for the examples, and what else belongs to it, at once."""
        with self.writing() as write:
            stated = json.dumps(list(event.classes)), json.dumps(dict(event.detail))
            row = event.version, event.what, event.happened, event.n, *stated, event.of
            write(f"INSERT INTO events ({EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._keep(write, contents)
            for move in moves:
                write("INSERT INTO moves VALUES (?, ?, ?, ?)", (event.version, move.digest, move.before, move.after))
                if move.after is None:
                    write("DELETE FROM examples WHERE digest = ?", [move.digest])
                else:
                    write("INSERT OR REPLACE INTO examples VALUES (?, ?, ?)", (move.digest, move.after, event.version))
            if renamed is not None:
                write("UPDATE examples SET label = ? WHERE label = ?", renamed[::-1])
            if model is not None:
                write("INSERT INTO models VALUES (?, ?)", (event.version, model))
            if also is not None:
                also(write)

    @staticmethod
    def _keep(write: Any, contents: Sequence[Content]) -> None:
        for one in contents:
            features = one.features.astype("<f4").tobytes()
            row = one.digest, one.name, one.text, one.thumbnail, features
            write("INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?, ?)", row)

    def put_on_pile(self, contents: Sequence[Content]) -> int:
        """Keep contents that have no label yet; return how many were new."""
        with self.writing() as write:
            self._keep(write, contents)
            added = 0
            for one in contents:
                added += write("INSERT OR IGNORE INTO pile (digest) VALUES (?)", [one.digest]).rowcount
            return added

    def take_off_pile(self, digest: Digest) -> bool:
        """Remove a content from the pile; say whether it was there."""
        with self.writing() as write:
            return bool(write("DELETE FROM pile WHERE digest = ?", [digest]).rowcount)

    def state(self, name: str, value: str) -> None:
        """Keep a fact under a name."""
        with self.writing() as write:
            write("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def checkpointed(self, version: int, digest: str) -> None:
        """Note which file has the model of a version."""
        with self.writing() as write:
            write("INSERT OR REPLACE INTO checkpoints VALUES (?, ?)", (version, digest))

    # Reading ------------------------------------------------------------------------------------------------------

    def rows(self, question: str, given: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a question."""
        with self._said():
            return self._connection.execute(question, given).fetchall()

    @contextmanager
    def reading(self) -> Iterator[int]:
        """Lend one moment of the journal, by its version, to this thread's questions."""
        connection = self._connection
        connection.execute("BEGIN")
        try:
            yield self.version
        finally:
            connection.execute("ROLLBACK")

    @property
    def version(self) -> int:
        """The number of the last event, 0 before the first."""
        return int(self.rows("SELECT coalesce(max(version), 0) FROM events")[0][0])

    def fact(self, name: str) -> str | None:
        """Return what was kept under a name."""
        found = self.rows("SELECT value FROM facts WHERE name = ?", [name])
        return str(found[0][0]) if found else None

    def events(self, *, after: int = 0) -> list[Event]:
        """Return the events after a version, in order."""
        return list(map(_event, self.rows(f"SELECT {EVENT} FROM events WHERE version > ? ORDER BY version", [after])))

    def event(self, version: int) -> Event:
        """Return one event."""
        return _event(self.rows(f"SELECT {EVENT} FROM events WHERE version = ?", [version])[0])

    def moves(self, version: int) -> list[Move]:
        """Return what an event moved."""
        found = self.rows("SELECT digest, before, after FROM moves WHERE version = ?", [version])
        return [Move(*row) for row in found]

    def model(self, version: int) -> bytes | None:
        """Return the model file that an event brought in."""
        found = self.rows("SELECT content FROM models WHERE version = ?", [version])
        return found[0][0] if found else None

    def checkpoint(self, digest: str) -> int | None:
        """Return the version that a file has, if it was written here."""
        found = self.rows("SELECT max(version) FROM checkpoints WHERE digest = ?", [digest])
        return None if found[0][0] is None else int(found[0][0])

    def labels(self, digests: Sequence[Digest]) -> dict[Digest, str]:
        """Return as what contents are known now; those that are not are left out."""
        return dict(self._about("SELECT digest, label FROM examples", digests))

    def features(self, digests: Sequence[Digest]) -> dict[Digest, NDArray[np.float32]]:
        """Return the features of the contents that are kept."""
        found = self._about("SELECT digest, features FROM contents", digests)
        return {digest: np.frombuffer(row, "<f4") for digest, row in found}

    def _about(self, question: str, digests: Sequence[Digest]) -> Iterator[Any]:
        for start in range(0, len(digests), AT_ONCE):
            some = digests[start : start + AT_ONCE]
            yield from self.rows(f"{question} WHERE digest IN ({','.join('?' * len(some))})", some)

    def counts(self) -> dict[str, int]:
        """Return how many examples of each class are kept here."""
        return dict(self.rows("SELECT label, count(*) FROM examples GROUP BY label"))

    def digests(self, label: str) -> list[Digest]:
        """Return the examples of a class."""
        return [row[0] for row in self.rows("SELECT digest FROM examples WHERE label = ?", [label])]


def _event(row: Sequence[Any]) -> Event:
    version, what, happened, n, classes, detail, of = row
    detailed: Mapping[str, Any] = json.loads(detail)
    return Event(version, what, happened, n, tuple(json.loads(classes)), detailed, of)


def example(row: Sequence[Any]) -> Example:
    """Return an example from digest, label, name and text."""
    return Example(*row)
