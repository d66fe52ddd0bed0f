"""Annotations of another program, by their ids: what each is about, since its end is told by its id alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anacp.serve.changes import Change
from anacp.serve.records import Content
from anacp.serve.teacher import Teacher


class Annotations:
    """Which annotation is about which content. This and what is learned from it are one step of the journal."""

    def __init__(self, teacher: Teacher) -> None:
        self._teacher = teacher

    def made(self, annotation: str, content: Content, label: str) -> Change:
        """Learn what an annotation says."""

        def note(write: Any) -> None:
            write("INSERT OR REPLACE INTO annotations VALUES (?, ?)", (annotation, content.digest))

        return self._teacher.learn([content], [label], source="annotation", also=note)

    def gone(self, annotations: Sequence[str]) -> Change:
        """Forget what annotations said that are gone, unless others say something of the same content."""
        ids = set(annotations)

        def note(write: Any) -> None:
            for one in ids:
                write("DELETE FROM annotations WHERE id = ?", [one])

        with self._teacher.alone():  # nobody annotates the same content meanwhile
            digests = {digest for one in ids for _, digest in self._about("id", one)}
            left = [one for one in sorted(digests) if {other for other, _ in self._about("digest", one)} <= ids]
            return self._teacher.forget(left, also=note)

    def _about(self, column: str, value: str | bytes) -> list[tuple[str, bytes]]:
        return self._teacher.journal.rows(f"SELECT id, digest FROM annotations WHERE {column} = ?", [value])
