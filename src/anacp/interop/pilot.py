"""A learner as a learner of PILOT: `incremental_train`, `eval_task`, `after_task`, as its trainer calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from anacp.interop.extraction import Extract, extracted
from anacp.learners import Learner

TOP = 5


class PilotLearner:
    """What PILOT's trainer calls of a method, with a closed-form learner behind it.

    It needs no PILOT: a data manager is anything with `get_task_size(task)` and `get_dataset(classes, source, mode)`
    of (number, input, label), labels from 0 in the order in which classes come.

    Parameters
    ----------
    args : mapping
        PILOT's settings; `init_cls` and `increment` group the accuracies.
    learner : Learner
        What learns, from features.
    extract : callable or torch module, optional
        Makes features of a batch of inputs; inputs are features already if left out.
    device : str
        Where inputs are put before they are extracted.
    """

    def __init__(
        self, args: Mapping[str, Any], learner: Learner[Any], extract: Extract | None = None, *, device: str = "cpu"
    ) -> None:
        self.args, self.learner, self.extract, self.device = args, learner, extract, device
        self._network = extract if isinstance(extract, nn.Module) else nn.Module()  # the trainer counts its parameters
        self._cur_task, self._known_classes, self._total_classes = -1, 0, 0
        self._test: Any = None

    def incremental_train(self, data_manager: Any) -> None:
        """Learn the next task."""
        self._cur_task += 1
        self._known_classes = self._total_classes
        self._total_classes += data_manager.get_task_size(self._cur_task)
        new, known = np.arange(self._known_classes, self._total_classes), np.arange(self._total_classes)
        for x, y in self._rows(data_manager.get_dataset(new, source="train", mode="test")):
            self.learner.partial_fit(x, y)
        self._test = data_manager.get_dataset(known, source="test", mode="test")

    def eval_task(self) -> tuple[dict[str, Any], None]:
        """Return accuracies, percent, on all classes so far; None stands for those by nearest exemplars."""
        pairs = [(self._best(x), y) for x, y in self._rows(self._test)]
        best, expected = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        right = best == expected[:, None]  # (n, k)
        grouped = self._grouped(right[:, 0], expected)
        return {"grouped": grouped, "top1": grouped["total"], f"top{TOP}": _percent(right.any(1))}, None

    def after_task(self) -> None:
        """Nothing: all that is kept was kept when it was learned."""

    def _rows(self, dataset: Any) -> Any:
        return extracted(dataset, self.extract, inputs=1, labels=2, device=self.device)

    def _best(self, x: NDArray[np.float32]) -> NDArray[Any]:
        """Return the classes that score highest, the best first."""  # (n, k)
        order = np.argsort(-self.learner.predict_proba(x), axis=1, kind="stable")[:, :TOP]
        return self.learner.classes_[order]

    def _grouped(self, right: NDArray[np.bool_], expected: NDArray[Any]) -> dict[str, float]:
        found = {"total": _percent(right)}
        start, size = 0, int(self.args["init_cls"]) or int(self.args["increment"])
        while start < self._total_classes:
            inside = (expected >= start) & (expected < start + size)
            found[f"{start:02}-{start + size - 1:02}"] = _percent(right[inside])
            start, size = start + size, int(self.args["increment"])
        found["old"] = _percent(right[expected < self._known_classes]) if self._known_classes else 0.0
        found["new"] = _percent(right[expected >= self._known_classes])
        return found


def _percent(right: NDArray[np.bool_]) -> float:
    return round(100 * float(right.mean()), 2)
