"""Rows are chosen as learning them one after the other chooses."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anacp.cluster.choosing import choose
from anacp.methods import LearnedExamples

CONTENT = st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.booleans()), min_size=1, max_size=20)
KNOWN = st.lists(st.tuples(st.integers(0, 8), st.sampled_from("abc")), max_size=5)


def digest(content: int) -> bytes:
    return content.to_bytes(8, "little") * 2


@pytest.mark.parametrize("on_conflict", ["keep", "skip"])
@given(CONTENT, KNOWN)
def test_as_one_after_the_other(on_conflict: Any, rows: list[tuple[int, str, bool]], known: list[Any]) -> None:
    from anacp.methods.lessons import Lesson

    learned = LearnedExamples.of(np.array([one for _, one in known], dtype="<U1"), [digest(one) for one, _ in known])
    labels = np.array([label for _, label, _ in rows])
    digests = np.array([content for content, _, _ in rows], np.int64)
    readable = np.array([read for _, _, read in rows])
    found = choose(labels, digests, readable, learned, on_conflict)

    lesson = Lesson([content for content, _, _ in rows], labels, learned, on_conflict)
    wanted = [place for place, row in enumerate(rows) if row[2] and lesson.is_new(place, digest(row[0]))]
    if on_conflict == "skip":
        wanted = [place for place in wanted if place not in lesson.left_out]
    assert np.flatnonzero(found.wanted).tolist() == wanted
    assert set(found.conflicts.tolist()) == lesson.conflicts.positions


def test_what_the_other_class_is_is_said() -> None:
    labels, digests = np.array(["cat", "dog", "cat", "owl"]), np.array([1, 1, 2, 3])
    known = LearnedExamples.of(np.array(["bat"]), [digest(3)])
    found = choose(labels, digests, np.ones(4, bool), known, "keep")
    assert found.conflicts.tolist() == [0, 1, 3]
    assert found.others == ["dog", "cat", "what it was learned as"]
