"""Examples that are both learned from and tested on."""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from anacp.datasets.dataset import Dataset, Examples
from anacp.datasets.images import LazyImage, content_hash

__all__ = ["Duplicate", "duplicates"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Duplicate:
    """One content, and the rows that hold it."""

    digest: str
    train: tuple[int, ...]
    test: tuple[int, ...]
    same_label: bool  # whether all these rows carry one label


def duplicates(dataset: Dataset, *, progress: Progress | None = None) -> list[Duplicate]:
    """Return every content that occurs among both training and test rows, in the order of the test rows.

    Images count as equal when their decoded pixels are, texts when they are equal but for capitals, Unicode
    compatibility forms and blanks, features when every number is. `progress(done, total)` is called now and then.
    """
    total = len(dataset.train) + len(dataset.test)
    train = _rows_by_digest(dataset.train, progress, 0, total)
    test = _rows_by_digest(dataset.test, progress, len(dataset.train), total)
    found = []
    for digest, rows in test.items():
        if digest in train:
            labels = {*dataset.train.labels[train[digest]].tolist(), *dataset.test.labels[rows].tolist()}
            found.append(Duplicate(digest, tuple(train[digest]), tuple(rows), len(labels) == 1))
    return found


def _rows_by_digest(examples: Examples, progress: Progress | None, before: int, total: int) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, digest in enumerate(_digests(examples)):
        rows.setdefault(digest, []).append(row)
        if progress and (row % 100 == 99 or row == len(examples) - 1):
            progress(before + row + 1, total)
    return rows


def _digests(examples: Examples) -> Iterator[str]:
    for item in examples.items:
        if isinstance(item, str):
            yield content_hash(" ".join(unicodedata.normalize("NFKC", item).casefold().split()).encode())
        elif isinstance(item, LazyImage):
            image = item.open().convert("RGB")
            yield content_hash(repr(image.size).encode(), image.tobytes())
        else:
            yield content_hash((np.ascontiguousarray(item) + np.float32(0)).tobytes())  # -0 becomes 0
