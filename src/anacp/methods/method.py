"""What every method of a comparison is, closed-form or trained: examples in, scores out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import ArrayLike, NDArray

from anacp.learners import Labels, StoredPart
from anacp.progress import Report


class Method(Protocol):
    """Learns task after task, and scores every class learned so far.

    Examples are whatever the method takes: rows of features for a learner, texts or images for a trained network.
    """

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""  # (c,)

    @property
    def seconds_before(self) -> float:
        """What the last `learn` had spent already before it was killed and went on."""

    def learn(self, examples: Sequence[Any], labels: ArrayLike, *, report: Report | None = None) -> None:
        """Learn one task."""

    def scores(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one score for each example and class, in the order of `classes_`; the largest is the prediction."""

    def predict(self, examples: Sequence[Any]) -> Labels:
        """Return the label of each example."""

    def predict_proba(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one probability for each example and class, in the order of `classes_`."""

    def parts(self) -> list[StoredPart]:
        """Return what is stored between tasks, with the size of each part."""

    def save(self, path: str | Path) -> None:
        """Write everything that the next task or a prediction needs, all or nothing."""
