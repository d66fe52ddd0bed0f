"""`anacp features`: look after the store of extracted features."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anacp import cli, encoders
from anacp.cli.say import say
from anacp.errors import FeatureStoreError, ParameterError
from anacp.words import counted, format_bytes

if TYPE_CHECKING:
    from rich.table import Table

features = typer.Typer(help="List, check and clear the features that were computed.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON, nothing else.")]


@features.command("list")
def list_(as_json: AsJson = False) -> None:
    """List what is stored: key, backbone, rows, size, days since something was added."""
    store = encoders.FeatureStore()
    entries = [_facts(entry) for entry in store.entries()]
    if as_json:
        print(json.dumps(entries))
        return
    console = cli.Screen()
    if not entries:
        console.print(f"No features in {store.root}", highlight=False, soft_wrap=True)
        return
    console.print(_table(entries))
    total = sum(entry["bytes"] for entry in entries)
    console.print(
        f"\n{counted(len(entries), 'entry')}, {format_bytes(total)} in {store.root}", highlight=False, soft_wrap=True
    )


@features.command()
def verify(as_json: AsJson = False) -> None:
    """Read every shard: it opens, has its rows, they are finite and as they were written. Exit code 1 if not."""
    found = [{"key": entry.key, "problems": entry.problems()} for entry in encoders.FeatureStore().entries()]
    damaged = [entry for entry in found if entry["problems"]]
    if as_json:
        print(json.dumps(found))
    else:
        for entry in damaged:
            for problem in entry["problems"]:
                say(f"{entry['key']}: {problem}")
        say(f"{counted(len(found), 'entry')} read, {len(damaged)} damaged")
    if damaged:
        raise typer.Exit(1)


@features.command()
def prune(
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only what nothing was added to for so long.")
    ] = None,
    backbone: Annotated[str | None, typer.Option(metavar="NAME", help="Only features of this backbone.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything, damaged entries too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove stored features; says what will be freed, and asks."""
    if not everything and older_than is None and backbone is None:
        raise ParameterError("Expected what to remove, got nothing. Give --older-than DAYS, --backbone NAME or --all.")
    chosen = [entry for entry in encoders.FeatureStore().entries() if _matches(_facts(entry), older_than, backbone)]
    facts = [_facts(entry) for entry in chosen]
    size = sum(fact["bytes"] for fact in facts)
    summary = f"{counted(len(chosen), 'entry')}, {format_bytes(size)}"
    if not as_json and facts:
        cli.Screen().print(_table(facts))
        say(f"\nThis frees {summary}.")
    # Whoever reads JSON cannot be asked: without --yes it is a preview.
    remove = yes or (bool(chosen) and not as_json and typer.confirm("Remove them?"))
    if remove:
        for entry in chosen:
            entry.remove()
    if as_json:
        print(json.dumps({"entries": facts, "bytes": size, "removed": remove}))
    else:
        say(f"Removed {summary}." if remove else "Nothing removed.")


def _matches(fact: dict[str, Any], older_than: float | None, backbone: str | None) -> bool:
    old_enough = older_than is None or fact["age_days"] > older_than
    return old_enough and backbone in (None, fact["backbone"])


def _facts(entry: encoders.FeatureEntry) -> dict[str, Any]:
    facts: dict[str, Any] = {"key": entry.key, "bytes": entry.n_bytes, "age_days": round(entry.age_days, 3)}
    try:
        card = entry.card
    except FeatureStoreError:
        return facts | {"backbone": None, "adaptation": None, "rows": None}
    return facts | {"backbone": card.backbone, "adaptation": card.adaptation, "rows": entry.n_rows}


def _table(entries: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    table = Table("key", "backbone", box=None, pad_edge=False, header_style="bold")
    for column in ("rows", "size", "age"):
        table.add_column(column, justify="right")
    for entry in entries:
        adapted = ", adapted" if entry["adaptation"] else ""
        name = f"{entry['backbone']}{adapted}" if entry["backbone"] else "damaged or old"
        rows = f"{entry['rows']:,}" if entry["backbone"] else ""
        table.add_row(entry["key"], name, rows, format_bytes(entry["bytes"]), f"{entry['age_days']:.1f} days")
    return table
