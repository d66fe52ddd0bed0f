"""The machine: what it is, since numbers can differ in their last digits, and how many runs it can carry at a time."""

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from anacp.errors import AnacpError
from anacp.experiments.material import Materials
from anacp.experiments.specification import Specification
from anacp.version import __version__

PACKAGES = ("torch", "numpy", "scikit-learn", "scipy", "transformers", "onnxruntime")
# A run needs its statistics in full where a file has one triangle, a copy to factor, and eigenvectors for some; one
# that trains a network needs its weights, their gradients, what the optimiser keeps, and activations.
OVERHEAD, BASE = 8, 500_000_000
# The weights of a ViT-B.
NETWORK = 350_000_000
# Below this a run ends sooner than a process for it begins.
SMALL = 20_000_000


def environment(*, backbone: str | None, dataset: str, jobs: int) -> dict[str, Any]:
    """Return what environment.json holds; backbone and data set are named by their fingerprints."""
    versions = {"python": platform.python_version(), "anacp": __version__}
    for package in PACKAGES if backbone else PACKAGES[:4]:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "versions": versions,
        "threads": torch.get_num_threads(),
        "jobs": jobs,
        "cores": os.cpu_count(),
        "cpu": _cpu(),
        "platform": platform.platform(),
        "backbone": backbone,
        "dataset": dataset,
    }


def forget_peak() -> None:
    """Let `peak_memory` begin anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the most memory that this process had, in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def expected_bytes(specification: Specification, materials: Materials, n_features: int = 1000) -> int:
    """Return about how much a run keeps, statistics or a network: a measure of its memory, and roughly of its work."""
    if specification.entry.takes == "items":
        return NETWORK
    dataset, _ = materials.dataset(specification.dataset)
    items = dataset.train.items
    width = n_features if isinstance(items, list | tuple) else int(getattr(items, "shape", (0, n_features))[1])
    try:
        learner = specification.entry.new(**specification.parameters)
        parts = learner.parts(n_features=width, n_classes=len(dataset.classes), n_rows=len(dataset.train))
    except AnacpError:
        return 0  # it fails when its turn comes, and says why
    return sum(part.bytes for part in parts)


def default_jobs(specifications: Sequence[Specification], sizes: Sequence[int]) -> int:
    """Return a number of processes that neither shares a core nor runs out of memory, for runs of expected sizes.

    Runs that are too small to be worth a process get all cores, one after another; so do trainings on an accelerator.
    """
    if any(one.entry.takes == "items" and one.device != "cpu" for one in specifications):
        return 1
    if sum(size >= SMALL for size in sizes) < 2:
        return 1
    return max(1, min(cores(), len(sizes), _available() // (BASE + OVERHEAD * max(sizes))))


def _available() -> int:
    """Return how many bytes of memory are free."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 8_000_000_000
