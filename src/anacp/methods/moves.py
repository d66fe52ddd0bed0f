"""Examples that came, went, or changed their class: what a step did, and what takes it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.labels import Labels, label_array
from anacp.methods.learned_examples import Digests, LearnedExamples, short_digests

if TYPE_CHECKING:
    from anacp.methods.taught import Taught

NONE = -1  # in place of a class: there is none before an example comes, or after it goes


@dataclass(frozen=True, eq=False)
class Moves:
    """Features of examples, and the class of each before and after."""

    rows: NDArray[np.float32]  # (n, d)
    digests: Digests  # (n,) of their content
    labels: Labels  # those that occur
    codes: NDArray[np.int64]  # (n, 2) places among the labels, before and after

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        digests: Sequence[bytes],
        *,
        before: Labels | Sequence[Any] | None = None,
        after: Labels | Sequence[Any] | None = None,
    ) -> Moves:
        """Return the moves of examples; a class that is None, or none at all, is no class."""
        given = before if after is None else after
        sides = [
            [None] * len(rows) if side is None else side.tolist() if isinstance(side, np.ndarray) else side
            for side in (before, after)
        ]
        occurring = list(dict.fromkeys(label for side in sides for label in side if label is not None))
        places: dict[Any, int] = {None: NONE} | {label: place for place, label in enumerate(occurring)}
        codes = np.array([[places[label] for label in side] for side in sides], np.int64).T.reshape(len(rows), 2)
        labels = label_array(occurring)
        if isinstance(given, np.ndarray):
            labels = labels.astype(given.dtype)
        return cls(np.asarray(rows, np.float32), short_digests(digests).copy(), labels, codes)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def what(self) -> Literal["learn", "forget", "relabel"]:
        """What they amount to."""
        came, went = (self.codes == NONE).all(0)
        return "learn" if came else "forget" if went else "relabel"

    def undone(self, taught: Taught) -> Taught:
        """Return what was taught before these moves."""
        return taught.moved(self.reversed(taught))

    def reversed(self, taught: Taught) -> Moves:
        """Return the moves that undo these."""
        return Moves(self.rows, self.digests, self.labels, np.ascontiguousarray(self.codes[:, ::-1]))

    @property
    def gone(self) -> tuple[NDArray[np.float32], Labels, LearnedExamples]:
        """What leaves a class: rows, labels, and which examples they are."""
        return self._side(0)

    @property
    def added(self) -> tuple[NDArray[np.float32], Labels, LearnedExamples]:
        """What comes into a class."""
        return self._side(1)

    def _side(self, side: int) -> tuple[NDArray[np.float32], Labels, LearnedExamples]:
        chosen = np.flatnonzero(self.codes[:, side] != NONE)
        labels = self.labels[self.codes[chosen, side]]
        return self.rows[chosen], labels, LearnedExamples.of_short(labels, self.digests[chosen])

    @property
    def nbytes(self) -> int:
        """What a file needs for them."""
        return self.rows.nbytes + self.digests.nbytes + self.codes.nbytes

    def tensors(self) -> dict[str, Tensor]:
        """Return what a model file keeps besides the labels."""
        kept = {"rows": self.rows, "digests": self.digests, "codes": self.codes}
        return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in kept.items()}

    @staticmethod
    def outlines(n: int, n_features: int) -> dict[str, Tensor]:
        """Return the same of n examples, without numbers."""
        sizes = {"digests": (n,), "codes": (n, 2)}
        wholes = {name: torch.empty(size, dtype=torch.int64, device="meta") for name, size in sizes.items()}
        return {"rows": torch.empty(n, n_features, device="meta"), **wholes}

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]], labels: list[Any]) -> Moves:
        """Return the moves of a file; a ValueError says what cannot be."""
        codes = arrays["codes"]
        if codes.size and not NONE <= codes.min() <= codes.max() < len(labels):
            raise ValueError("a step moves examples of classes that it does not name")
        return cls(arrays["rows"], arrays["digests"], label_array(labels), codes)
