"""Methods by the name a table gives them: every learner with its defaults, and named settings of some."""

import difflib
import importlib.util
from pathlib import Path
from typing import Any

from anacp.errors import InputError, UnknownNameError
from anacp.learners.base import Learner
from anacp.learners.registry import LEARNERS, learner

__all__ = ["COMPARED", "PRESETS", "method", "method_name", "methods_in"]

PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "ACIL": ("GACL", {"n_projected": 8192, "ridge": 0.1, "dtype": "float64"}),
    "KLDA-E": ("KLDA", {"n_members": 5}),
    "LoRanPAC-10k": ("LoRanPAC", {"n_projected": 10_000, "max_rank": 1000}),
}

# The comparison's rows: cheap ones first, the joint upper bounds last.
COMPARED = (
    "NCM",
    "SLDA",
    "FeCAM",
    "KLDA",
    "KLDA-E",
    "GACL",
    "ELM",
    "RanPAC",
    "LoRanPAC-10k",
    "AnaCP",
    "Ridge",
    "LinearProbe",
)


def method_name(name: str) -> str:
    """Return the name of a learner or setting as tables write it, whatever the capitals given."""
    names = {known.casefold(): known for known in (*LEARNERS, *PRESETS)}
    if name.casefold() not in names:
        near = difflib.get_close_matches(name.casefold(), names, n=1)
        hint = f"Did you mean {names[near[0]]!r}? " if near else ""
        raise UnknownNameError(f"Unknown method {name!r}. {hint}Known: {', '.join(sorted(names.values()))}.")
    return names[name.casefold()]


def method(name: str, *, random_state: int = 0) -> Learner:
    """Return a new learner by its name or the name of a setting."""
    class_name, parameters = PRESETS.get(method_name(name), (name, {}))
    return learner(class_name)(random_state=random_state, **parameters)


def methods_in(path: str | Path) -> list[str]:
    """Run a Python file of your own, and return the names of the learners that it registers."""
    path = Path(path).expanduser()
    before = set(LEARNERS)
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or specification is None or specification.loader is None:
        raise InputError(f"Expected a Python file with a learner, got none at {path}. Check the path.")
    specification.loader.exec_module(importlib.util.module_from_spec(specification))
    names = [name for name in LEARNERS if name not in before]
    if not names:
        raise InputError(f"Expected a learner decorated with @register in {path}, got none with a new name.")
    return names
