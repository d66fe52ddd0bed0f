"""Sources as workers describe them: parts, cut into shards, and what their rows are by their content."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from anacp.cluster.keeping import Kept
from anacp.cluster.list_desk import ListDesk
from anacp.cluster.looked import keep_looked, kept_looked
from anacp.cluster.pool import Hand, Pool, Work
from anacp.cluster.reading import Described, Reading, labels_together, places
from anacp.cluster.shards import cut
from anacp.cluster.worker import Looked, Refused
from anacp.datasets import LeftOut
from anacp.errors import DataFileError, InputError, MissingDataError
from anacp.items import content_hash
from anacp.progress import Progress, Report
from anacp.words import LONGEST_PLACE, listed

UNREADABLE = (DataFileError, MissingDataError, InputError)


class Source:
    """Parts of sources, described by the workers and cut into shards."""

    def __init__(
        self, pool: Pool, sources: Sequence[str], reading: Reading, *, strict: bool, rows: int, report: Report | None
    ) -> None:
        self._pool, self.reading, self._report = pool, reading, report
        named = places(sources)
        found: dict[str, Described] = {}
        unread: list[LeftOut] = []

        def take(work: Work, answer: Any, _: Hand | None) -> None:
            if isinstance(answer, Refused):
                if reading.on_error == "refuse" or strict or not isinstance(answer.problem, UNREADABLE):
                    raise answer.problem
                unread.append(LeftOut(str(work.what), str(answer.problem)))
            else:
                found[str(work.what)] = answer

        self.ask([Work("describe", place, (reading, place)) for place in named], take, "sources")
        self.parts = [found[place] for place in named if place in found]
        if not self.parts:
            raise InputError(f"Expected examples that can be read, got none: {unread[0].reason}")
        kinds = {part.modality for part in self.parts}
        if len(kinds) > 1:
            raise InputError(f"Expected examples of one kind, got {', '.join(sorted(kinds))}. Learn them one by one.")
        self.modality = kinds.pop()
        self.left_out = (*unread, *(one for part in self.parts for one in part.left_out))
        if strict and self.left_out:
            shown = listed(self.left_out, 10, show="{0.place} ({0.reason})".format, longest=LONGEST_PLACE)
            raise InputError(
                f"Expected examples and nothing else, got {len(self.left_out):,} that are left out: {shown}. Move them "
                "away, or go without --strict."
            )
        self.notes = tuple(note for part in self.parts for note in part.notes)
        self.labels, self.as_texts = labels_together(self.parts)
        self.shards = cut(self.parts, rows)
        marks = [[part.place, part.mark, len(part.codes)] for part in self.parts]
        self.plan = content_hash(b"anacp cluster 1", json.dumps([marks, rows]).encode())

    def looked(self) -> list[Looked]:
        """Return what the rows of each shard are by their content."""
        folder = Kept(self.plan).folder
        kept = {shard.number: found for shard in self.shards if (found := kept_looked(folder, shard.number))}

        def take(work: Work, answer: Any, _: Hand | None) -> None:
            if isinstance(answer, Refused):
                raise answer.problem
            number = int(work.asked[1].number)
            keep_looked(folder, number, answer)
            kept[number] = answer

        self.ask(
            [Work("look", str(one), (self.reading, one)) for one in self.shards if one.number not in kept],
            take,
            "contents",
        )
        return [kept[shard.number] for shard in self.shards]

    def ask(self, works: list[Work], take: Callable[[Work, Any, Hand | None], None], words: str) -> None:
        """Have works done, and tell how far they are."""
        desk, report = ListDesk(works, take), self._report
        self._pool.run(desk, lambda: report(Progress(words, len(works) - desk.n_left, len(works))) if report else None)
