"""The pile: contents that have no label yet."""

from __future__ import annotations

from collections.abc import Sequence

from anacp.serve.changes import Change
from anacp.serve.records import Content, Digest
from anacp.serve.refusals import missing
from anacp.serve.teacher import Teacher


class Pile:
    """What waits for a label, in the journal of a teacher."""

    def __init__(self, teacher: Teacher) -> None:
        self._teacher, self._journal = teacher, teacher.journal

    def put(self, contents: Sequence[Content]) -> int:
        """Keep contents that have no label yet; return how many were new."""
        with self._teacher.alone():
            return self._journal.put_on_pile(contents)

    def take_off(self, digest: Digest) -> bool:
        """Remove a content from the pile; say whether it was there."""
        with self._teacher.alone():
            return self._journal.take_off_pile(digest)

    def label(self, digest: Digest, label: str, *, expected: int | None = None) -> Change:
        """Learn a content of the pile as a class; taking that back puts it on the pile again."""
        if not self._journal.rows("SELECT 1 FROM pile WHERE digest = ?", [digest]):
            raise missing("something on the pile", digest.hex(), "GET /v1/pile lists it.")
        return self._teacher.learn_known({digest: label}, expected=expected)
