"""Whether the files on disk are the published ones, and whether examples are both learned from and tested on."""

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from anacp.datasets.dataset import Dataset
from anacp.datasets.registry import SOURCES
from anacp.datasets.sources import data_folder
from anacp.items import LazyImage, content_hash
from anacp.progress import Progress, Report


@dataclass(frozen=True)
class Verified:
    """A published file on disk beside the checksum it should have."""

    path: Path
    expected: str | None  # MD5; None where none is known for certain
    found: str

    @property
    def agrees(self) -> bool | None:
        """Whether it is the published file; None where that cannot be told."""
        return None if self.expected is None else self.expected == self.found


def verify(name: str, *, root: str | Path | None = None) -> Iterator[Verified]:
    """Yield, file by file, what the checksums say about the published files of a known data set that are on disk.

    Unpacked folders and Hugging Face copies have no published checksum and are passed over.
    """
    known, folder = SOURCES.find(name), data_folder(root)
    for file in (file for layout in known.layouts for part in layout.parts for file in part.files):
        for path in (folder / known.folder / file, folder / file):
            if path.is_file():
                with open(path, "rb") as content:
                    md5 = hashlib.file_digest(content, lambda: hashlib.md5(usedforsecurity=False))
                yield Verified(path, known.card.checksums.get(file), md5.hexdigest())
                break


@dataclass(frozen=True)
class Duplicate:
    """One content, and the rows that hold it."""

    digest: str
    train: tuple[int, ...]
    test: tuple[int, ...]
    same_label: bool  # whether all these rows carry one label


def duplicates(dataset: Dataset, *, report: Report | None = None) -> list[Duplicate]:
    """Return every content that occurs among both training and test rows, in the order of the test rows.

    Images count as equal when their decoded pixels are, texts when they are equal but for capitals, Unicode
    compatibility forms and blanks, features when every number is. `report` is called with a `Progress` now and then.
    """
    n_train, total = len(dataset.train), len(dataset.train) + len(dataset.test)
    train: dict[str, list[int]] = {}
    test: dict[str, list[int]] = {}
    for place, item in enumerate(chain(dataset.train.items, dataset.test.items)):
        rows, row = (train, place) if place < n_train else (test, place - n_train)
        rows.setdefault(_digest(item), []).append(row)
        if report and (place % 100 == 99 or place == total - 1):
            report(Progress("duplicates", place + 1, total))
    found = []
    for digest in (digest for digest in test if digest in train):
        labels = {*dataset.train.labels[train[digest]].tolist(), *dataset.test.labels[test[digest]].tolist()}
        found.append(Duplicate(digest, tuple(train[digest]), tuple(test[digest]), len(labels) == 1))
    return found


def _digest(item: Any) -> str:
    if isinstance(item, str):
        return content_hash(" ".join(unicodedata.normalize("NFKC", item).casefold().split()).encode())
    if isinstance(item, LazyImage):
        image = item.open().convert("RGB")
        return content_hash(repr(image.size).encode(), image.tobytes())
    return content_hash((np.ascontiguousarray(item) + np.float32(0)).tobytes())  # -0 becomes 0
