"""Which examples a model has learned: eight bytes each, so that none is learned twice or forgotten unlearned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.files import TensorFile
from anacp.learners import Labels

Digests = NDArray[np.int64]
EXAMPLES = "examples."  # what the names of its tensors begin with in a model file
NOTHING: Digests = np.empty(0, np.int64)


class LearnedExamples:
    """A set of (label, content) pairs; a value."""

    def __init__(self, by_class: Mapping[Any, Digests] | None = None) -> None:
        self._by_class = dict(by_class or {})  # label: sorted digests

    @classmethod
    def of(cls, labels: Labels, digests: Sequence[bytes]) -> LearnedExamples:
        """Return the set of some examples."""
        return cls.of_short(labels, short_digests(digests))

    @classmethod
    def of_short(cls, labels: Labels, digests: Digests) -> LearnedExamples:
        """Return the set of examples whose digests are known as they are kept."""
        return cls({label: np.unique(digests[rows]) for label, rows in _groups(labels)})

    def __len__(self) -> int:
        return sum(map(len, self._by_class.values()))

    def count(self, label: Any) -> int:
        """Return how many examples of a class there are."""
        return len(self._by_class.get(label, NOTHING))

    def holds(self, label: Any, digest: bytes) -> bool:
        """Say whether an example was learned."""
        held, short = self._by_class.get(label, NOTHING), short_digests([digest])[0]
        place = int(np.searchsorted(held, short))
        return place < len(held) and bool(held[place] == short)

    def label_of(self, digest: bytes) -> Any:
        """Return as what some content was learned, the first class of those; None if it was not."""
        digests, codes, labels = self._everything
        short = short_digests([digest])[0]
        place = int(np.searchsorted(digests, short))
        return labels[codes[place]] if place < len(digests) and digests[place] == short else None

    @cached_property
    def _everything(self) -> tuple[Digests, NDArray[np.intp], list[Any]]:
        """All digests, sorted, with the number of each one's class, and the classes."""
        labels = list(self._by_class)
        digests = np.concatenate([NOTHING, *self._by_class.values()])
        codes = np.repeat(np.arange(len(labels)), [len(held) for held in self._by_class.values()])
        order = np.argsort(digests, kind="stable")
        return digests[order], codes[order], labels

    def contains(self, labels: Labels, digests: Sequence[bytes]) -> NDArray[np.bool_]:
        """Return for each example whether it was learned."""  # (n,)
        return self.contains_short(labels, short_digests(digests))

    def contains_short(self, labels: Labels, digests: Digests) -> NDArray[np.bool_]:
        """Return for each example whether it was learned, by its digest as it is kept."""  # (n,)
        found = np.zeros(len(digests), bool)
        for label, rows in _groups(labels):
            found[rows] = np.isin(digests[rows], self._by_class.get(label, NOTHING))
        return found

    def contains_content(self, digests: Digests) -> NDArray[np.bool_]:
        """Return for each content, by its digest as it is kept, whether it was learned as anything."""  # (n,)
        return np.isin(digests, self._everything[0])

    def __add__(self, other: LearnedExamples) -> LearnedExamples:
        union = dict(self._by_class)
        for label, digests in other._by_class.items():
            union[label] = np.union1d(union.get(label, NOTHING), digests)
        return LearnedExamples(union)

    def __sub__(self, other: LearnedExamples) -> LearnedExamples:
        left = {
            label: np.setdiff1d(held, other._by_class.get(label, NOTHING)) for label, held in self._by_class.items()
        }
        return LearnedExamples({label: held for label, held in left.items() if len(held)})

    def labels_of(self, digest: bytes) -> list[Any]:
        """Return the classes in which a content was learned."""
        return [label for label in self._by_class if self.holds(label, digest)]

    def relabelled(self, names: Mapping[Any, Any]) -> LearnedExamples:
        """Return the set with classes under other names; those of one name become one."""
        union: dict[Any, Digests] = {}
        for label, held in self._by_class.items():
            name = names.get(label, label)
            union[name] = np.union1d(union.get(name, NOTHING), held)
        return LearnedExamples(union)

    def without(self, label: Any) -> LearnedExamples:
        """Return the set without a class."""
        return LearnedExamples({other: held for other, held in self._by_class.items() if other != label})

    def n_shared(self, other: LearnedExamples) -> int:
        """Return how many examples are in both."""
        common = self._by_class.keys() & other._by_class.keys()
        return sum(len(np.intersect1d(self._by_class[label], other._by_class[label])) for label in common)

    def tensors(self, classes: Sequence[Any]) -> dict[str, Tensor]:
        """Return what a model file keeps, in the order of the classes."""
        digests = [self._by_class.get(label, NOTHING) for label in classes]
        return {
            "counts": torch.tensor([len(held) for held in digests]),
            "digests": torch.from_numpy(np.concatenate(digests)),
        }

    @staticmethod
    def outlines(file: TensorFile, n_classes: int) -> dict[str, Tensor]:
        """Return what `tensors` would give for as many classes and examples as the file says, without its numbers."""
        n_examples = file.sizes(EXAMPLES).get("digests", (0,))
        sizes = {"counts": (n_classes,), "digests": n_examples[:1]}
        return {
            f"{EXAMPLES}{name}": torch.empty(size, dtype=torch.int64, device="meta") for name, size in sizes.items()
        }

    @classmethod
    def restored(cls, classes: Sequence[Any], file: TensorFile) -> LearnedExamples:
        """Return the set from what `tensors` gave; no class has more examples than were learned of it."""
        tensors = file.tensors(EXAMPLES)
        counts, digests = tensors["counts"].numpy(), tensors["digests"].numpy()
        learned = file.tensors("moments.counts")[""].numpy()
        if counts.min() < 1 or (counts > learned).any() or counts.max() > len(digests):
            raise file.damage("examples.counts are not those of moments.counts")
        if counts.sum() != len(digests):
            raise file.damage(f"it has {len(digests):,} digests for {counts.sum():,} examples")
        parts = np.split(digests, np.cumsum(counts)[:-1])
        if any((part[1:] <= part[:-1]).any() for part in parts):
            raise file.damage("examples.digests are not sorted and distinct")
        return cls(dict(zip(classes, parts, strict=True)))


def short_digests(digests: Sequence[bytes]) -> Digests:
    """Return the eight bytes of each digest that are kept."""
    return np.frombuffer(b"".join(digest[:8] for digest in digests), np.int64)


def _groups(labels: Labels) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    distinct, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    yield from zip(distinct.tolist(), rows, strict=False)  # of no labels, split makes one empty part
