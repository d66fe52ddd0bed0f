"""Methods by name: those of the package, of installed packages, and of files of one's own."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from sklearn.base import clone

from anacp.catalogue import METHODS, MethodEntry
from anacp.errors import AnacpError, InputError, ParameterError
from anacp.files import TensorFile, home, read_json, replacing
from anacp.items import content_hash
from anacp.learners import Learner

# An installed package makes its methods known under this group of entry points: each names a module or a class.
ENTRY_POINTS = "anacp.methods"


def find_method(name: str, file: str | Path | None = None) -> MethodEntry:
    """Return the entry of a method by its name, whatever its capitals; a near miss is answered with the right name.

    What is not in the package is looked for in the file given, in installed packages, and in the files that were given
    on this machine before: a model that such a method learned can be loaded in any process.
    """
    if file is not None and not METHODS.knows(name):
        methods_in(file)
    if not METHODS.knows(name):
        for found in entry_points(group=ENTRY_POINTS):
            found.load()
    if not METHODS.knows(name) and name in _remembered():
        methods_in(_remembered()[name])
    return METHODS.find(name)


def learner_class(file: TensorFile) -> type[Learner[Any]]:
    """Return the class of the learner that a model file names."""
    name = file.header.get("learner")
    if not isinstance(name, str):  # said before it is looked for
        raise file.damage("it does not say its learner")
    made = find_method(name).make
    if not (isinstance(made, type) and issubclass(made, Learner)):
        raise file.damage(f"{name} is no learner of features")
    return made


def untaught(learner: str | Learner[Any]) -> Learner[Any]:
    """Return a learner that has learned nothing: of a method by name, or with the parameters of one."""
    if isinstance(learner, str):
        entry = find_method(learner)
        if entry.takes != "features":
            raise ParameterError(
                f"Expected a method that learns from features, got {entry.name}, which trains a network of its own. "
                f"Use `anacp.methods.{entry.make.__name__}` itself."
            )
        made: Learner[Any] = entry.new()
        return made
    if learner._learned:
        raise ParameterError(
            f"Expected a learner that has learned nothing yet, got {type(learner).__name__} with "
            f"{len(learner.classes_)} classes. Which examples it learned is not known: learn them here."
        )
    copied: Learner[Any] = clone(learner)
    return copied


def methods_in(path: str | Path) -> list[str]:
    """Run a Python file of your own, and return the names of the methods that it registers.

    The file is remembered, so that models of these methods can be loaded later.
    """
    path = Path(path).expanduser().resolve()
    name = f"{path.stem}@{content_hash(str(path).encode())}"  # hides no module of that name
    specification = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or specification is None or specification.loader is None:
        raise InputError(f"Expected a Python file with a method, got none at {path}. Check the path.")
    before = dict(METHODS)
    sys.modules[name] = module = importlib.util.module_from_spec(specification)  # dataclasses look there
    try:
        specification.loader.exec_module(module)
    except Exception as problem:
        del sys.modules[name]
        if isinstance(problem, AnacpError):
            raise
        raise InputError(
            f"Expected a Python file that runs, got {type(problem).__name__}: {problem} in {path}. Run it by itself."
        ) from problem
    names = [name for name, entry in METHODS.items() if before.get(name) is not entry]
    if not names:
        raise InputError(f"Expected a learner decorated with @method() in {path}, got none.")
    remembered = _remembered()
    known = remembered | dict.fromkeys(names, str(path))
    if known != remembered:  # many processes may run the same file
        with replacing(_memory()) as temporary:
            temporary.write_text(json.dumps(known, indent=1))
    return names


def _memory() -> Path:
    return home() / "methods.json"


def _remembered() -> dict[str, str]:
    """Return the files of one's own by the names of their methods."""
    try:
        found = read_json(_memory())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
