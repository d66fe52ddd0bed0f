"""A learner as a strategy of Avalanche: `train` on an experience, `eval` on a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from anacp.interop.extraction import Extract, extracted
from anacp.learners import Learner


class AvalancheStrategy:
    """What Avalanche's training scripts call of a strategy, with a closed-form learner behind it.

    It needs no Avalanche: an experience is anything with a `dataset` of (input, label, …), which Avalanche's are.
    Plugins and loggers, which follow steps of gradient training, are not called.

    Parameters
    ----------
    learner : Learner
        What learns, from features.
    extract : callable or torch module, optional
        Makes features of a batch of inputs; inputs are features already if left out. A module is set to evaluation.
    device : str
        Where inputs are put before they are extracted.

    Examples
    --------
    >>> import anacp
    >>> from types import SimpleNamespace
    >>> two = SimpleNamespace(dataset=[([0.0, 1.0], 0), ([1.0, 0.0], 1)])
    >>> strategy = AvalancheStrategy(anacp.NCM())
    >>> strategy.train(two)
    >>> strategy.eval([two])["Top1_Acc_Stream/eval_phase/test_stream/Task000"]
    1.0
    """

    def __init__(self, learner: Learner[Any], extract: Extract | None = None, *, device: str = "cpu") -> None:
        self.model, self.extract, self.device = learner, extract, device

    def train(self, experiences: Any, eval_streams: Any = None, **_: Any) -> None:
        """Learn an experience, or several, one after another."""
        for experience in _several(experiences):
            for x, y in extracted(experience.dataset, self.extract, inputs=0, labels=1, device=self.device):
                self.model.partial_fit(x, y)

    def eval(self, experiences: Any, **_: Any) -> dict[str, float]:
        """Return the share of right answers in each experience and in all, under the names of Avalanche's metrics."""
        found: dict[str, float] = {}
        right: dict[tuple[str, int], list[bool]] = {}
        for number, experience in enumerate(_several(experiences)):
            stream = getattr(getattr(experience, "origin_stream", None), "name", "test")
            task = int(getattr(experience, "task_label", 0))
            place = int(getattr(experience, "current_experience", number))
            own: list[bool] = []
            for x, y in extracted(experience.dataset, self.extract, inputs=0, labels=1, device=self.device):
                own += (self.model.predict(x) == y).tolist()
            found[f"Top1_Acc_Exp/eval_phase/{stream}_stream/Task{task:03}/Exp{place:03}"] = float(np.mean(own))
            right.setdefault((stream, task), []).extend(own)
        for (stream, task), answers in right.items():
            found[f"Top1_Acc_Stream/eval_phase/{stream}_stream/Task{task:03}"] = float(np.mean(answers))
        return found


def _several(experiences: Any) -> Iterable[Any]:
    return [experiences] if hasattr(experiences, "dataset") else experiences
