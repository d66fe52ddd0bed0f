"""The doors of rooms: each name is imported when it is first asked for, so that nobody waits for what others need."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["door"]


def door(room: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a room, which imports its names as the `if TYPE_CHECKING:` of its door says.

    So a door lists its names once, in the imports that type checkers and import-linter read as well.
    """

    def imported(name: str) -> Any:
        module = sys.modules[room]
        if name not in module.__all__:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(_homes(str(module.__file__))[name]), name)
        setattr(module, name, value)
        return value

    return imported


@cache
def _homes(path: str) -> dict[str, str]:
    """Return the module that each name comes from."""
    body = ast.parse(Path(path).read_text(encoding="utf-8")).body
    checked = [one for node in body if isinstance(node, ast.If) for one in node.body if isinstance(one, ast.ImportFrom)]
    return {alias.name: str(one.module) for one in checked for alias in one.names}
