"""Settings by name: what a method was tuned to for a backbone, beside the published values that are its defaults."""

import difflib
from typing import Any

from anacp.errors import UnknownNameError
from anacp.methods.trained.registry import trained

__all__ = ["SETTINGS", "settings"]

# "minilm": the best, at two epochs a task, of what docs/methods/trained.md compares on CLINC150's validation split.
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "published": {},
    "minilm": {
        "L2P": {"read": "tokens", "rate": 0.1, "epochs": 2, "batch_size": 32},
        "DualPrompt": {"rate": 0.1, "epochs": 2, "batch_size": 32},
        "CODAPrompt": {"rate": 2e-2, "epochs": 2, "batch_size": 32},
        "SLCA": {"rate": 3e-6, "head_rate": 0.05, "epochs": 2, "batch_size": 32},
        "SequentialFineTuning": {"rate": 1e-5, "epochs": 2, "batch_size": 32},
        "JointLinearProbe": {"rate": 0.1},
        "JointFineTuning": {
            "rank": 16,
            "everywhere": True,
            "rate": 5e-4,
            "head_rate": 5e-3,
            "epochs": 4,
            "batch_size": 32,
            "schedule": "one-cycle",
        },
    },
}


def settings(name: str, method: str) -> dict[str, Any]:
    """Return the parameters that the named settings give to a method; what they leave out stays as published."""
    folded = name.casefold()
    if folded not in SETTINGS:
        near = difflib.get_close_matches(folded, SETTINGS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UnknownNameError(f"Unknown settings {name!r}. {hint}Known: {', '.join(sorted(SETTINGS))}.")
    return dict(SETTINGS[folded].get(trained(method).__name__, {}))
