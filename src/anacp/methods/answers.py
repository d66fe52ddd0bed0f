"""What became of the inputs that were given."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import ParameterError
from anacp.labels import Labels
from anacp.learners import or_unknown


@dataclass(frozen=True)
class Learned:
    """What `Classifier.learn` did."""

    n_new: int  # examples learned now
    n_known: int  # learned before, or given twice: left out
    new_classes: list[Any]
    skipped: list[tuple[Any, str]] = field(default_factory=list)  # input and reason
    feature_seconds: float = 0.0
    learn_seconds: float = 0.0


@dataclass(frozen=True)
class Forgotten:
    """What `Classifier.forget` did."""

    n_forgotten: int
    n_unknown: int  # given, but not in the model
    lost_classes: list[Any]  # whose last example went
    feature_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Answers:
    """Probabilities of the inputs that could be read, and what is wrong with the others."""

    classes: Labels  # (c,) sorted
    probabilities: NDArray[Any]  # (k, c)
    kept: NDArray[np.intp]  # (k,) positions of the rows among the inputs
    skipped: list[tuple[Any, str]] = field(default_factory=list)  # input and reason
    digests: list[bytes] = field(default_factory=list)  # k, of the inputs' content
    familiarity: NDArray[Any] | None = None  # (k,), if it was asked for: negative for what is none of the classes

    @property
    def labels(self) -> Labels:
        """The likeliest label of each input."""  # (k,)
        return np.asarray(self.classes[self.probabilities.argmax(1)])

    def labels_or(self, unknown: Any) -> Labels:
        """Return the likeliest label of each input, or `unknown` where it is none; needs the familiarity."""  # (k,)
        if self.familiarity is None:
            raise ParameterError("Expected answers with their familiarity, got none. Ask with keep=0.95, or another.")
        return or_unknown(self.labels, self.familiarity, unknown)

    def ranked(self, k: int = 3) -> list[list[tuple[Any, float]]]:
        """Return for each input the k most likely labels with their probabilities, the likeliest first."""
        if k < 1:
            raise ParameterError(f"Expected k of at least 1, got {k}.")
        best = np.argsort(-self.probabilities, axis=1, kind="stable")[:, :k]
        names = self.classes.tolist()
        return [
            [(names[column], float(row[column])) for column in columns]
            for row, columns in zip(self.probabilities, best, strict=True)
        ]
