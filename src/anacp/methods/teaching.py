"""Learning, forgetting and moving examples: what changes a model by looking at them."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anacp.encoders import Encoder, FeatureStore
from anacp.items import OnError
from anacp.methods.answers import Forgotten, Learned
from anacp.methods.changing import Changing
from anacp.methods.choosing_layers import chosen_layers, computing_all, selected
from anacp.methods.conflicts import OnConflict
from anacp.methods.lessons import Lesson, Recall, checked_examples
from anacp.methods.moves import Moves
from anacp.methods.pairs import labelled_pairs
from anacp.methods.taught import Taught
from anacp.progress import Report


class Teaching(Changing):
    """What was taught, and the encoder by which it sees examples."""

    def __init__(self, encoder: Encoder, taught: Taught, store: FeatureStore | None) -> None:
        super().__init__(taught)
        self.encoder, self.store = encoder, store

    def learn(
        self,
        inputs: Any,
        labels: ArrayLike | None = None,
        *,
        columns: tuple[str, str] | None = None,
        on_error: OnError = "refuse",
        on_conflict: OnConflict = "keep",
        report: Report | None = None,
        source: object = None,
    ) -> Learned:
        """Learn more examples, of old classes, new classes, or both. If this fails, nothing has changed.

        Parameters
        ----------
        inputs : sequence
            Texts, for a text backbone; paths, Pillow images or images of `anacp.datasets` for an image backbone.
            Without `labels`: a DataFrame, a `Dataset` of Hugging Face, a `DataLoader`, or pairs (input, label).
        labels : array-like of shape (n,), optional
            One label an input: text, numbers or booleans.
        columns : (str, str), optional
            Which column of a table or a `Dataset` has the inputs, which the labels; found by their names if left out.
        on_error : {"refuse", "skip"}
            What to do with an image that cannot be read; those skipped are in the result.
        on_conflict : {"keep", "refuse", "skip"}
            What to do with content that is given, or was learned, as another class too: learn it as each, refuse
            everything, or leave it out. Those found are in the result.
        report : callable, optional
            Called with an `anacp.progress.Progress` now and then.
        source : optional
            Where the examples are from, for the journal.
        """
        if labels is None:
            inputs, labels = labelled_pairs(inputs, columns)
        items, names = checked_examples(inputs, labels, self._taught)
        lesson = Lesson(items, names, self._taught.examples, on_conflict)
        start = perf_counter()
        before = self.encoder
        encoder = computing_all(before) if before.undecided else before
        found = encoder.encode(items, store=self.store, on_error=on_error, wanted=lesson.is_new, report=report)
        lesson.check()
        encoded = perf_counter()
        with self._turn:
            taught = self._taught
            rows = lesson.fresh(found, taught.examples)
            new, digests = names[found.kept[rows]], [found.digests[row] for row in rows]
            if len(new):
                x, encoder = found.x[rows], self.encoder
                if before.undecided:
                    # Another thread may have had them chosen since.
                    encoder = chosen_layers(before, x, new, digests) if encoder.undecided else encoder
                    x = selected(before, x, encoder.origin.layers)
                moves = Moves.of(x, digests, after=new)
                learned = taught.moved(moves)
                after = learned.after(taught, "learn", len(new), np.unique(new).tolist(), source=source, undo=moves)
                self.encoder, self._taught = encoder, after  # in this order: what was learned has an encoder
        return Learned(
            n_new=len(new),
            n_known=len(items) - len(new) - len(found.skipped) - len(lesson.left_out),
            new_classes=np.setdiff1d(new, taught.classes).tolist() if len(new) else [],
            skipped=found.skipped,
            conflicts=lesson.conflicts.found,
            cut=[items[position] for position in found.cut],
            foreign=[items[position] for position in found.foreign],
            feature_seconds=encoded - start,
            learn_seconds=perf_counter() - encoded,
            layer_choice=self._choice if before.undecided else None,
        )

    def forget(
        self,
        inputs: Sequence[Any],
        labels: ArrayLike,
        *,
        on_unknown: OnError = "refuse",
        on_error: OnError = "refuse",
        report: Report | None = None,
        source: object = None,
        for_good: bool = False,
    ) -> Forgotten:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. An example that was never learned is refused or, with
        `on_unknown="skip"`, left out and counted; so is an image that cannot be read, with `on_error="skip"`. If this
        fails, nothing has changed.

        The journal can take this back, and for that keeps features of what was forgotten. With `for_good` it does not,
        and gives up what takes earlier steps back as well, in which the same examples may be.
        """
        examples = self._something().examples
        items, names = checked_examples(inputs, labels, self._taught)
        recall = Recall(items, names, examples)
        start = perf_counter()
        found = self.encoder.encode(items, on_error=on_error, wanted=recall.is_known, report=report)
        with self._turn:
            taught = self._taught
            rows = recall.held(found, taught.examples)
            if on_unknown == "refuse":
                recall.check()
            gone = names[found.kept[rows]]
            if len(gone):
                moves = Moves.of(found.x[rows], [found.digests[row] for row in rows], before=gone)
                less, classes = taught.moved(moves), np.unique(gone).tolist()
                self._taught = less.after(taught, "forget", len(gone), classes, source=source, undo=moves)
            if for_good:
                self.give_up_undo()
            lost = np.setdiff1d(taught.classes, self._taught.classes).tolist() if len(gone) else []
        return Forgotten(len(gone), len(recall.unknown), lost, perf_counter() - start, found.skipped)

    def relabel(self, inputs: Sequence[Any], label: Any, *, report: Report | None = None) -> int:
        """Move examples that were learned to another class, old or new, in one step; return how many moved.

        The classes that they are in are known by their content. If this fails, nothing has changed.
        """
        self._something()
        items, _ = checked_examples(inputs, [label] * len(inputs), self._taught)
        given: set[bytes] = set()

        def is_first(position: int, digest: bytes) -> bool:
            first = digest not in given
            given.add(digest)
            return first

        found = self.encoder.encode(items, store=self.store, wanted=is_first, report=report)
        with self._turn:
            self._taught, n_moved = self._something().relabelled(found, label)
        return n_moved

    @property
    def _choice(self) -> str | None:
        """Which layers were chosen and why, in words; None if they were stated, or are still to be chosen."""
        encoder = self.encoder
        return encoder.choice.words(encoder.origin.layers) if encoder.choice else None
