"""Measures the shape of the code: `python tools/shape.py [ROOT]`. What the design keeps small."""

import ast
import json
import statistics
import sys
from collections import Counter
from pathlib import Path

PACKAGE = "anacp"
BASE = "BaseEstimator"


def modules(root: Path) -> dict[str, ast.Module]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted((root / "src" / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


def rooms(trees: dict[str, ast.Module], root: Path) -> set[str]:
    """Return the packages directly below the root package."""
    return {name for name in trees if name.count(".") == 1 and (root / "src" / Path(*name.split("."))).is_dir()}


def listed_names(tree: ast.Module) -> set[str]:
    """Return what a module lists in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def defined_names(tree: ast.Module) -> set[str]:
    """Return what a module defines at its top level."""
    defined: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            defined.add(node.name)
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            defined |= {target.id} if isinstance(target, ast.Name) else set()
    return defined


def names_defined_twice(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Return the public names that more than one module defines.

    A name is public in a module that lists it, and in a module of a room whose door lists it.
    """
    found: Counter[str] = Counter()
    for name, tree in trees.items():
        door = trees.get(".".join(name.split(".")[:2]), tree)
        public = listed_names(tree) or listed_names(door)
        found.update(defined_names(tree) & public)
    return {name: n for name, n in sorted(found.items()) if n > 1}


def imports_past_a_door(trees: dict[str, ast.Module], doors: set[str]) -> list[tuple[str, str]]:
    """Return who imports a module inside another room instead of the room."""
    found = []
    for name, tree in trees.items():
        for node in ast.walk(tree):
            wanted = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            wanted += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for target in wanted:
                room = ".".join(target.split(".")[:2])
                if room in doors and target != room and ".".join(name.split(".")[:2]) != room:
                    found.append((name, target))
    return found


def depth_below_scikit_learn(trees: dict[str, ast.Module]) -> int:
    """Return how many classes lie between scikit-learn's base class and the farthest method, itself included."""
    parents = {
        node.name: [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def depth(name: str) -> int:
        if name == BASE:
            return 0
        above = [depth(parent) for parent in parents.get(name, []) if parent != name]
        return 1 + max(above) if above and max(above) >= 0 else -1

    return max(depth(name) for name in parents)


def lines(folder: Path) -> int:
    """Count the lines of Python files."""
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def shape(root: Path) -> dict[str, object]:
    """Return every figure by name."""
    trees = modules(root)
    functions = [
        (node.end_lineno - node.lineno + 1, f"{name}.{node.name}")
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]
    return {
        "source files": len(trees),
        "test files": len(list((root / "tests").rglob("*.py"))),
        "source lines": lines(root / "src"),
        "test lines": lines(root / "tests"),
        "public names defined more than once": names_defined_twice(trees),
        "imports past a room's door": len(imports_past_a_door(trees, rooms(trees, root))),
        "levels below scikit-learn's base class": depth_below_scikit_learn(trees),
        "median function, lines": statistics.median(length for length, _ in functions),
        "longest function, lines": max(functions),
    }


if __name__ == "__main__":
    print(json.dumps(shape(Path(sys.argv[1] if len(sys.argv) > 1 else ".")), indent=1, ensure_ascii=False))
