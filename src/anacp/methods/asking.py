"""How a model is asked, whatever kind it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from anacp.items import OnError
from anacp.learners import By
from anacp.methods.answers import Answers
from anacp.progress import Report


@dataclass(frozen=True)
class Question:
    """What is asked about inputs besides their likeliest classes, and how."""

    on_error: OnError = "refuse"
    report: Report | None = None
    keep: float | None = None  # if given, the familiarity of each is measured, as by `Learner.familiarity`
    by: By = "both"


class Asked(ABC):
    """A model of images, texts or features that is asked for names."""

    @abstractmethod
    def _answered(self, inputs: Sequence[Any], question: Question) -> Answers:
        """Return the answers to a question about inputs."""

    def answer(
        self,
        inputs: Sequence[Any],
        *,
        on_error: OnError = "refuse",
        report: Report | None = None,
        keep: float | None = None,
        by: By = "both",
    ) -> Answers:
        """Return the probabilities of the inputs that can be read, which these are, and what is wrong with others.

        With `keep`, the familiarity of each is measured too, as by `Learner.familiarity`.
        The result prints as a table: the likeliest labels of each input, with their probabilities.
        """
        return self._answered(inputs, Question(on_error, report, keep, by))

    def predict_proba(self, inputs: Sequence[Any]) -> NDArray[Any]:
        """Return one probability for each input and class, in the order of `classes_`."""  # (n, c)
        return self.answer(inputs).probabilities

    def top(self, inputs: Sequence[Any], k: int = 3) -> list[list[tuple[Any, float]]]:
        """Return for each input the k most likely labels with their probabilities, the likeliest first."""
        return self.answer(inputs).ranked(k)
