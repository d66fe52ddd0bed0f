"""docs/cli.md speaks of every command and option there is."""

from pathlib import Path

import typer.main

from anacp.cli.app import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def test_every_command_is_described() -> None:
    page = PAGE.read_text()
    group = typer.main.get_command(app)
    assert len(group.commands) > 8
    for name, command in group.commands.items():
        parts = [f"{name} {sub}" for sub in getattr(command, "commands", {})] or [name]
        for part in parts:
            assert f"`anacp {part}" in page, part
        leaves = getattr(command, "commands", {name: command}).values()
        for option in {o for leaf in leaves for p in leaf.params if p.param_type_name == "option" for o in p.opts}:
            assert option in page or option == "--help", f"{name} {option}"
