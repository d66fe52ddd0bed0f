"""Which rows of all shards are learned: each content once, and none that is known or of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import InputError
from anacp.learners import check_kind
from anacp.methods import Digests, LearnedExamples, OnConflict
from anacp.words import SKIPPING, listed

MOST_NAMED = 10


@dataclass(frozen=True)
class Chosen:
    """Rows, by their position among all."""

    wanted: NDArray[np.bool_]  # (n,)
    conflicts: NDArray[np.intp]  # (k,) whose content is of another class too
    others: list[Any]  # (k,) that class


def choose(
    labels: NDArray[Any],
    digests: Digests,
    readable: NDArray[np.bool_],
    known: LearnedExamples,
    on_conflict: OnConflict,
) -> Chosen:
    """Return the rows to learn, as learning them one after the other would choose.

    Parameters
    ----------
    labels, digests, readable : arrays of shape (n,)
        Of all rows, in the order of the shards; a row that cannot be read has any digest.
    known : LearnedExamples
        What the model has learned before.
    on_conflict : {"keep", "refuse", "skip"}
        As for `Classifier.learn`; "refuse" is the caller's to say, with `refusal`.
    """
    held = known.contains_short(labels, digests)
    _, codes = np.unique(labels, return_inverse=True)
    order = np.lexsort((np.arange(len(labels)), codes, digests))
    order = order[readable[order]]
    content, name = digests[order], codes[order]
    begins = np.r_[True, content[1:] != content[:-1]][: len(order)]  # of a content
    again = np.r_[False, (content[1:] == content[:-1]) & (name[1:] == name[:-1])][: len(order)]
    group = np.cumsum(begins) - 1
    least, most = (np.full(int(group.max(initial=-1)) + 1, fill) for fill in (len(labels), -1))
    np.minimum.at(least, group, name)
    np.maximum.at(most, group, name)
    wanted = np.zeros(len(labels), bool)
    wanted[order[~again]] = True
    wanted &= ~held
    two = np.zeros(len(labels), bool)
    two[order] = (least != most)[group]
    foreign = readable & ~held & ~two & known.contains_content(digests)
    conflicts = np.flatnonzero(two | foreign)
    vocabulary = np.unique(labels)
    inside = dict(zip(order.tolist(), group.tolist(), strict=True)) if len(conflicts) else {}
    others: list[Any] = []
    for place in conflicts.tolist():
        if foreign[place]:
            others.append("what it was learned as")
        else:
            ends = least[inside[place]], most[inside[place]]
            others.append(vocabulary[ends[0] if codes[place] != ends[0] else ends[1]].item())
    if on_conflict == "skip":
        wanted[conflicts] = False
    return Chosen(wanted, conflicts, others)


def check_labels(labels: NDArray[Any], classes: NDArray[Any] | None) -> None:
    """Refuse labels of another kind than those that were learned."""
    if classes is not None and len(labels):
        check_kind(classes, labels)


def refusal(named: list[str]) -> InputError:
    """Return the error for content of two classes."""
    return InputError(
        f"Expected one class for each content, got {len(named):,} with two: {listed(named, MOST_NAMED, show=str)}. "
        f"Remove those that are wrong, or leave out all of them: {SKIPPING}."
    )
