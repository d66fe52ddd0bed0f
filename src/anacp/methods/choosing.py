"""Methods by name, whatever they take: rows of features, or the items themselves."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from anacp.backbones import Backbone
from anacp.errors import ParameterError, UnknownNameError
from anacp.learners import LEARNERS, PRESETS, method, methods_in
from anacp.methods.method import Method
from anacp.methods.on_features import OnFeatures

__all__ = ["check_parameters", "known_name", "on_features", "on_items", "on_items_again", "only_joint", "takes"]

# What an experiment sets for every method alike.
RESERVED = {
    "random_state": "seed",
    "seed": "seed",
    "device": "device",
    "checkpoints": "nothing",
    "backbone": "backbone",
}


def known_name(name: str, file: str | None = None) -> str:
    """Return the name of a method as tables write it; one from a file of your own is registered first."""
    if file is not None and name.casefold() not in map(str.casefold, LEARNERS):
        methods_in(file)
    names = {known.casefold(): known for known in (*LEARNERS, *PRESETS, *_trained())}
    if name.casefold() not in names:
        near = difflib.get_close_matches(name.casefold(), names, n=1)
        hint = f"Did you mean {names[near[0]]!r}? " if near else ""
        raise UnknownNameError(f"Unknown method {name!r}. {hint}Known: {', '.join(sorted(names.values()))}.")
    return names[name.casefold()]


def takes(name: str) -> Literal["features", "items"]:
    """Return what a method learns from."""
    return "items" if name in _trained() else "features"


def check_parameters(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter that the method does not have, or that an experiment sets in another place."""
    known = _parameters(name)
    for parameter in parameters:
        if parameter in RESERVED:
            raise ParameterError(
                f"[method.parameters] {parameter}: an experiment sets it for every method (`seed`, `device`, "
                "`backbone`). Leave it out here."
            )
        if parameter not in known:
            near = difflib.get_close_matches(parameter, known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else f"no such parameter of {name}. "
            raise ParameterError(f"[method.parameters] {parameter}: {hint}Known: {', '.join(known)}.")


def on_features(name: str, parameters: Mapping[str, Any], *, seed: int, device: str = "cpu") -> OnFeatures:
    """Return a new method that learns rows of features."""
    learner = method(name, random_state=seed)
    return OnFeatures(learner.set_params(**{"device": device, **parameters}))


def on_items(name: str, backbone: Backbone, parameters: Mapping[str, Any], *, seed: int, checkpoints: Path) -> Method:
    """Return a new method that trains on the items themselves; a killed training goes on from its checkpoints."""
    made: Method = _trained()[name](backbone, seed=seed, checkpoints=checkpoints, **parameters)
    return made


def on_items_again(name: str, path: Path, backbone: Backbone, *, checkpoints: Path) -> Method:
    """Return the method that was saved at `path`, ready for the next task."""
    loaded: Method = _trained()[name].load(path, backbone=backbone, checkpoints=checkpoints)
    return loaded


def only_joint(name: str) -> bool:
    """Return whether a method can learn all tasks at once only."""
    return bool(getattr(_trained().get(name), "joint", False))


def _parameters(name: str) -> list[str]:
    if takes(name) == "features":
        return [key for key in method(name).get_params() if key not in RESERVED]
    return [key for key in inspect.signature(_trained()[name]).parameters if key not in RESERVED]


def _trained() -> Mapping[str, Any]:
    """Return the trained methods, where there are any."""
    if find_spec("anacp.methods.trained") is None:
        return {}
    registered: Mapping[str, Any] = import_module("anacp.methods.trained").TRAINED
    return registered
