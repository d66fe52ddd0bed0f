"""Which examples a model has learned: eight bytes each, so that none is learned twice or forgotten unlearned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.errors import ModelFileError
from anacp.methods.given import Digests, Given

__all__ = ["Known"]

NOTHING: Digests = np.empty(0, np.int64)


class Known:
    """A set of (label, content) pairs."""

    def __init__(self, by_class: Mapping[Any, Digests] | None = None) -> None:
        self._by_class = dict(by_class or {})  # label: sorted digests

    def __len__(self) -> int:
        return sum(map(len, self._by_class.values()))

    def contains(self, examples: Given) -> NDArray[np.bool_]:
        """Return for each example whether it was learned."""  # (n,)
        found = np.zeros(len(examples), bool)
        for label, rows in _groups(examples.labels):
            found[rows] = np.isin(examples.digests[rows], self._by_class.get(label, NOTHING))
        return found

    def plus(self, examples: Given) -> Known:
        """Return the set with these examples."""
        return self + Known({label: np.unique(examples.digests[rows]) for label, rows in _groups(examples.labels)})

    def minus(self, examples: Given) -> Known:
        """Return the set without these examples."""
        left = dict(self._by_class)
        for label, rows in _groups(examples.labels):
            left[label] = np.setdiff1d(left.get(label, NOTHING), examples.digests[rows])
        return Known({label: held for label, held in left.items() if len(held)})

    def minus_class(self, label: Any) -> Known:
        """Return the set without a class."""
        return Known({other: held for other, held in self._by_class.items() if other != label})

    def __add__(self, other: Known) -> Known:
        union = dict(self._by_class)
        for label, digests in other._by_class.items():
            union[label] = np.union1d(union.get(label, NOTHING), digests)
        return Known(union)

    def n_shared(self, other: Known) -> int:
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

    @classmethod
    def restored(cls, classes: Sequence[Any], tensors: Mapping[str, Tensor]) -> Known:
        """Return the set from what `tensors` gave."""
        counts, digests = tensors["counts"].numpy(), tensors["digests"].numpy()
        if len(counts) != len(classes) or counts.sum() != len(digests):
            raise ModelFileError("Expected one digest for each example, got another number. Save the model anew.")
        parts = np.split(digests, np.cumsum(counts)[:-1])
        return cls(dict(zip(classes, parts, strict=True)))


def _groups(labels: NDArray[Any]) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    distinct, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    yield from zip(distinct.tolist(), rows, strict=False)  # of no labels, split makes one empty part
