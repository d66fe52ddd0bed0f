"""The results of a run, put together from its steps."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.backbones import PRESETS, Preset
from anacp.catalogue import RESERVED
from anacp.evaluation import (
    average_incremental_accuracy,
    backward_transfer,
    confusion_matrix,
    forgetting,
    last_accuracy,
)
from anacp.experiments.machine import peak_memory
from anacp.experiments.material import Material
from anacp.experiments.results import FORMAT, FORMAT_VERSION, Step
from anacp.experiments.specification import Specification
from anacp.experiments.steps import Judged, accuracy_matrix
from anacp.methods import Method, OnFeatures
from anacp.version import __version__

MOST_CONFUSED = 20


def outcome(
    specification: Specification, material: Material, method: Method, steps: Sequence[Step], last: Judged
) -> dict[str, Any]:
    """Return what results.json holds."""
    matrices = {kind: accuracy_matrix(steps, kind) for kind in ("class_incremental", "task_incremental")}
    dataset, encoder = material.dataset, material.encoder
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
            "backbone": dataset.card.backbone and _origin_of(dataset.card.backbone),
        },
        "backbone": encoder and _origin(encoder.backbone.preset) | {"fingerprint": encoder.fingerprint},
        "adaptation": specification.adaptation,
        "parameters": parameters_run(method),
        "paper": specification.paper and specification.paper.as_dict(),
        "quick": specification.quick,
        "substitute": specification.substitute and dict(specification.substitute),
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


def parameters_run(method: Method) -> dict[str, Any]:
    """Return all parameters of a method as it was run, those left at their defaults included; not seed and device."""
    made = method.learner if isinstance(method, OnFeatures) else method
    names = [name for name in inspect.signature(type(made)).parameters if name not in RESERVED]
    return {name: _plain(getattr(made, name)) for name in names if hasattr(made, name)}


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
    found = (classes[true], classes[taken], counts, totals[true])
    return [list(pair) for pair in zip(*(column[order].tolist() for column in found), strict=True)]


def _plain(value: Any) -> Any:
    """Return a value as JSON can say it."""
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    plain = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else str(value)


def _origin_of(name: str) -> dict[str, str]:
    """Return what is known of a backbone that a file of features names."""
    return _origin(PRESETS[name]) if name in PRESETS else {"name": name}


def _origin(preset: Preset) -> dict[str, str]:
    return {"name": preset.name, "pretrained_on": preset.pretrained_on, "licence": preset.licence}


def _protocol(specification: Specification, material: Material) -> dict[str, Any]:
    """Return the scenario in full, so that another toolkit can repeat it."""
    described, tasks = material.scenario.describe(), material.test_tasks()
    base: Any = described
    while "base" in base:
        base = base["base"]
    return {
        **described,
        "order_name": base["order"] if isinstance(base["order"], str) else "explicit",
        "order_seed": specification.order_seed,
        "class_order": list(dict.fromkeys(label for task in tasks for label in task.classes.tolist())),  # as they come
        "n_tasks": material.scenario.n_tasks,
        "averaging": "unweighted mean over tasks",
    }
