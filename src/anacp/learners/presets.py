"""Methods by the name a table gives them: every learner with its defaults, and named settings of some."""

import difflib
from typing import Any

from anacp.errors import UnknownNameError
from anacp.learners.base import Learner
from anacp.learners.registry import LEARNERS, learner

__all__ = ["COMPARED", "PRESETS", "method"]

PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "ACIL": ("GACL", {"n_projected": 8192, "ridge": 0.1, "dtype": "float64"}),
    "KLDA-E": ("KLDA", {"n_members": 5}),
    "LoRanPAC-20k": ("LoRanPAC", {"n_projected": 20_000, "max_rank": 1000}),
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
    "LoRanPAC-20k",
    "AnaCP",
    "Ridge",
    "LinearProbe",
)


def method(name: str, *, random_state: int = 0) -> Learner:
    """Return a new learner by its name or the name of a setting, whatever its capitals."""
    names = {known.casefold(): known for known in (*LEARNERS, *PRESETS)}
    known = names.get(name.casefold())
    if known is None:
        near = difflib.get_close_matches(name.casefold(), names, n=1)
        hint = f"Did you mean {names[near[0]]!r}? " if near else ""
        raise UnknownNameError(f"Unknown method {name!r}. {hint}Known: {', '.join(sorted(names.values()))}.")
    class_name, parameters = PRESETS.get(known, (known, {}))
    return learner(class_name)(random_state=random_state, **parameters)
