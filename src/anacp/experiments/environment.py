"""Where a run was made: versions, machine, threads. Numbers can differ in their last digits between these."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from anacp.version import __version__

__all__ = ["environment", "forget_peak", "peak_memory"]

PACKAGES = ("torch", "numpy", "scikit-learn", "scipy", "transformers", "onnxruntime")


def environment(*, backbone: str | None, dataset: str, jobs: int) -> dict[str, Any]:
    """Return what environment.json holds; backbone and data set are named by their fingerprints."""
    versions = {"python": platform.python_version(), "anacp": __version__}
    for package in PACKAGES if backbone else PACKAGES[:4]:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
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
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


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
