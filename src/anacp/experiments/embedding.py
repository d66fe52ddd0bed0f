"""Pictures of what AnaCP does to features: three stages of the same test rows, in two dimensions each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import ParameterError
from anacp.experiments.material import Material
from anacp.learners import AnaCP, Learner
from anacp.scenarios import Task

N_CLASSES, N_ROWS = 10, 30
SETTINGS = {"perplexity": 30.0, "init": "pca", "learning_rate": "auto", "max_iter": 1000, "random_state": 0}


def embedding(learner: Learner[Any], material: Material) -> dict[str, Any]:
    """Return t-SNE coordinates of up to 10 classes × 30 test rows.

    "input" is the features, "random" those of the first head after its random projection, "projected" those after the
    contrastive projection. The classes are taken from all tasks in turn.
    """
    if not isinstance(learner, AnaCP) or learner.n_heads < 1:
        raise ParameterError("Expected an AnaCP with at least one head to picture, got another learner.")
    test, classes = material.test, _from_all(material.test_tasks())
    rows = np.concatenate([np.flatnonzero(test.labels == label)[:N_ROWS] for label in classes])
    chosen = test.take(rows)
    stages = learner.stages(np.asarray(chosen.items))  # each (n, …)
    settings = SETTINGS | {"perplexity": min(30.0, (len(rows) - 1) / 3)}
    return {
        "classes": [str(label) for label in classes],
        "labels": [classes.index(label) for label in chosen.labels.tolist()],
        "stages": {name: _flat(stage, settings) for name, stage in stages.items()},
        "method": "sklearn.manifold.TSNE",
        "settings": settings,
    }


def _from_all(tasks: list[Task]) -> list[Any]:
    """Return the first class of each task, then the second of each, up to the most that a picture shows."""
    longest = max(len(task.classes) for task in tasks)
    turns = (task.classes.tolist()[turn : turn + 1] for turn in range(longest) for task in tasks)
    return list(dict.fromkeys(label for group in turns for label in group))[:N_CLASSES]


def _flat(x: NDArray[Any], settings: dict[str, Any]) -> list[list[float]]:
    from sklearn.manifold import TSNE

    points = TSNE(**settings).fit_transform(x.astype(np.float32))
    return [[round(float(value), 3) for value in point] for point in points]
