"""The results of a run, put together from its steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.backbones.presets import PRESETS, Preset
from anacp.evaluation import (
    average_incremental_accuracy,
    backward_transfer,
    confusion_matrix,
    forgetting,
    last_accuracy,
)
from anacp.experiments.environment import peak_memory
from anacp.experiments.material import Material
from anacp.experiments.results import FORMAT, FORMAT_VERSION, Step
from anacp.experiments.specification import Specification
from anacp.experiments.steps import Judged, accuracy_matrix
from anacp.methods.method import Method
from anacp.version import __version__

__all__ = ["confused", "metrics", "outcome"]

MOST_CONFUSED = 20


def outcome(
    specification: Specification, material: Material, method: Method, steps: Sequence[Step], last: Judged
) -> dict[str, Any]:
    """Return what results.json holds."""
    matrices = {kind: accuracy_matrix(steps, kind) for kind in ("class_incremental", "task_incremental")}
    dataset, backbone = material.dataset, material.backbone
    spent = {kind: sum(step.seconds[kind] for step in steps) for kind in ("learn", "solve", "predict")}
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": f"anacp {__version__}",
        "title": specification.title,
        "method": specification.method,
        "seed": specification.seed,
        "dataset": {
            "name": dataset.name,
            "title": dataset.card.title,
            "n_train": len(dataset.train),
            "n_test": len(dataset.test),
            "n_classes": len(dataset.classes),
            "licence": dataset.card.licence,
            "fingerprint": material.fingerprint,
            "backbone": None if dataset.card.backbone is None else _origin(PRESETS[dataset.card.backbone]),
        },
        "backbone": None if backbone is None else {**_origin(backbone.preset), "fingerprint": backbone.fingerprint},
        "adaptation": specification.adaptation,
        "substitute": None if specification.substitute is None else dict(specification.substitute),
        "protocol": _protocol(specification, material),
        "joint": specification.joint,
        "metrics": metrics(matrices, joint=specification.joint),
        "accuracy": {
            kind: [[None if np.isnan(value) else value for value in row] for row in matrix.tolist()]
            for kind, matrix in matrices.items()
        },
        "seconds": material.seconds | spent,
        "state_bytes": steps[-1].state_bytes,
        "peak_memory_bytes": peak_memory(),
        "parts": [asdict(part) for part in method.parts()],
        "confused": confused(last, method.classes_),
        "specification": specification.as_dict(),
    }


def metrics(matrices: Mapping[str, NDArray[np.float64]], *, joint: bool) -> dict[str, float | None]:
    """Return the metrics of both accuracy matrices; a joint run has no course to average over, and forgets nothing."""
    found: dict[str, float | None] = {}
    for kind, prefix in (("class_incremental", ""), ("task_incremental", "task_incremental_")):
        matrix = matrices[kind]
        found[f"{prefix}A_last"] = last_accuracy(matrix)
        found[f"{prefix}A_avg"] = None if joint else average_incremental_accuracy(matrix)
        found[f"{prefix}forgetting"] = None if joint else forgetting(matrix)
        found[f"{prefix}backward_transfer"] = None if joint else backward_transfer(matrix)
    return found


def confused(judged: Judged, classes: NDArray[Any]) -> list[list[Any]]:
    """Return the pairs of classes that are mistaken most often, by share of the true class; true, taken for, n, of."""
    matrix = confusion_matrix(judged.expected, judged.predicted, classes)
    totals = matrix.sum(1)
    np.fill_diagonal(matrix, 0)
    true, taken = np.nonzero(matrix)
    counts = matrix[true, taken]
    order = np.lexsort((taken, true, -counts, -counts / totals[true]))[:MOST_CONFUSED]
    names = classes.tolist()
    return [
        [names[true[pair]], names[taken[pair]], int(counts[pair]), int(totals[true[pair]])] for pair in order.tolist()
    ]


def _origin(preset: Preset) -> dict[str, str]:
    return {"name": preset.name, "pretrained_on": preset.pretrained_on, "licence": preset.licence}


def _protocol(specification: Specification, material: Material) -> dict[str, Any]:
    """Return the scenario in full, so that another toolkit can repeat it."""
    described = material.scenario.describe()
    base: Any = described
    while "base" in base:
        base = base["base"]
    return {
        **described,
        "order_name": base["order"] if isinstance(base["order"], str) else "explicit",
        "order_seed": specification.order_seed,
        "class_order": _arrival(material),
        "n_tasks": material.scenario.n_tasks,
        "averaging": "unweighted mean over tasks",
    }


def _arrival(material: Material) -> list[Any]:
    """Return the classes in the order in which tasks bring them."""
    tasks = material.scenario.test_tasks(
        material.dataset.test.labels, None if material.domains is None else material.domains[1]
    )
    return list(dict.fromkeys(label for task in tasks for label in task.classes.tolist()))
