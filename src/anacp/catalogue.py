"""The catalogue of methods, one entry each: files, tables, the command line and experiments know no other list."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from anacp.errors import ParameterError
from anacp.names import Names, nearest

__all__ = ["METHODS", "RESERVED", "MethodEntry", "compared_methods", "entry_of", "method"]

C = TypeVar("C", bound=type)

# What is set for every method alike, under the name that a person sets it by.
RESERVED = {
    "random_state": "seed",
    "seed": "seed",
    "device": "device",
    "backbone": "backbone",
    "checkpoints": "nothing",
}


@dataclass(frozen=True)
class MethodEntry:
    """One method: what makes it, and everything that is known of it beforehand."""

    name: str  # as tables write it
    make: type[Any]  # the class
    takes: Literal["features", "items"] = "features"  # rows of features, or texts and images themselves
    joint: bool = False  # learns all tasks at once, and nothing afterwards
    parameters: Mapping[str, Any] = field(default_factory=dict)  # the name stands for the class with these
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by backbone: chosen or tuned for it
    quick: Mapping[str, Any] = field(default_factory=dict)  # to see the shape of a table, not its numbers
    page: str = ""  # in docs/methods
    compared: int = 0  # its place in a comparison that names no methods; 0 for none

    @property
    def parameter_names(self) -> list[str]:
        """The parameters that an experiment may set."""
        return [name for name in inspect.signature(self.make).parameters if name not in RESERVED]

    def check_parameters(self, parameters: Mapping[str, Any], place: str = "") -> None:
        """Refuse a parameter that the method does not have, or that is set in another place."""
        for name in parameters:
            where = f"{place} {name}".strip()
            if name in RESERVED:
                raise ParameterError(
                    f"{where}: an experiment sets it for every method (`seed`, `device`, `backbone`). "
                    "Leave it out here."
                )
            if name not in self.parameter_names:
                near = nearest(name, self.parameter_names)
                hint = f"did you mean {near!r}? " if near else f"no such parameter of {self.name}. "
                raise ParameterError(f"{where}: {hint}Known: {', '.join(self.parameter_names)}.")

    def new(self, *given: Any, **parameters: Any) -> Any:
        """Return the method, not taught yet; whatever is given comes before what the name stands for."""
        return self.make(*given, **{**self.parameters, **parameters})


if TYPE_CHECKING:
    METHODS: Names[MethodEntry]
_METHODS: Names[MethodEntry] = Names("method")


def __getattr__(name: str) -> Any:
    if name != "METHODS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _filled()


def _filled() -> Names[MethodEntry]:
    """Return the catalogue with the methods of the package, which are imported when somebody asks for all of them."""
    learners = import_module("anacp.learners")
    for name in learners.__all__:
        getattr(learners, name)
    import_module("anacp.methods.trained")
    return _METHODS


def method(name: str = "", **facts: Any) -> Callable[[C], C]:
    """Class decorator: make a method known by its name, that of the class if left out, with the facts of its entry.

    A class may carry several: each name can stand for the class with other parameters.
    """

    def known(cls: C) -> C:
        entry = MethodEntry(name or cls.__name__, cls, **facts)
        if not _ours(cls) and entry.name in _filled() and _ours(_METHODS[entry.name].make):
            raise ParameterError(f"Expected a name that no method has yet, got {entry.name!r}. Choose another.")
        _METHODS[entry.name] = entry
        return cls

    return known


def entry_of(cls: type) -> MethodEntry | None:
    """Return the entry that stands for a class itself, by which files name it; None for a class that has none."""
    entries = [entry for entry in _METHODS.values() if entry.make is cls]
    return min(entries, key=lambda entry: (entry.name != cls.__name__, len(entry.parameters)), default=None)


def compared_methods() -> list[str]:
    """Return the names in a comparison that names none: cheap methods first, joint upper bounds last."""
    known = _filled()
    return sorted((name for name in known if known[name].compared), key=lambda name: known[name].compared)


def _ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "anacp"
