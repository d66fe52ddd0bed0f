"""docs/architecture.md is drawn from the code: its rooms, their order, and every step of its walks."""

import ast
import re
import tomllib
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "anacp"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = PAGE[PAGE.index("## The rooms") : PAGE.index("## Six walks")]
WALKS = PAGE[PAGE.index("## Six walks") : PAGE.index("## The few ideas")]


def test_the_rooms_stand_in_the_order_that_import_linter_holds() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    held = [sorted(name.strip() for name in layer.split("|")) for layer in layers]
    shown = [
        sorted(re.findall(r"`(\w+)(?:/|\.py)`", line.split("|")[1]))
        for line in ROOMS.splitlines()
        if line.startswith("| `")
    ]
    assert shown == held
    here = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {name for layer in held for name in layer} == here - {"__init__", "__main__", "version"}


def test_every_step_of_the_walks_exists() -> None:
    steps = re.findall(r"^\|[^|]*\|(?: `(\w+)` \|)? ([^|]*\.py[^|]*) \|", WALKS, re.MULTILINE)
    assert len(steps) > 25
    for room, cell in steps:
        folder = room
        for path, names in re.findall(r"`([\w/]+\.py)(?:: ([\w., ]+))?`", cell):
            folder = str(Path(path).parent) if "/" in path else folder
            file = SOURCE / folder / Path(path).name
            assert file.is_file(), f"{file} of {cell}"
            for name in filter(None, names.split(", ")):
                assert _defines(file, name), f"{name} in {file}"


def test_a_photo_changes_rooms_at_most_twelve_times() -> None:
    photo = WALKS[: WALKS.index("**A row into an answer**")]
    rooms = re.findall(r"^\|[^|]*\| `(\w+)` \|", photo, re.MULTILINE)
    assert all(one != other for one, other in pairwise(rooms))
    assert len(rooms) - 1 <= 12


def _defines(file: Path, dotted: str) -> bool:
    body = ast.parse(file.read_text()).body
    for part in dotted.split("."):
        named = [node for node in body if _name(node) == part]
        if not named:
            return False
        body = getattr(named[0], "body", [])
    return True


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.AnnAssign):
        return getattr(node.target, "id", "")
    return getattr(node, "name", "") or getattr(getattr(node, "targets", [None])[0], "id", "")
