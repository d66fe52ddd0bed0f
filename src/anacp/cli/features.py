"""`anacp features`: fill the store of extracted features, and look after it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anacp import cli, cluster, datasets, encoders
from anacp.cli.options import (
    ClusterOption,
    Device,
    Examples,
    Label,
    LabelColumn,
    LayersOption,
    OnBad,
    OnErrorOption,
    PathColumn,
    RemoteCode,
    Split,
    Strict,
    TextColumn,
    layers_of,
)
from anacp.cli.say import say
from anacp.cli.sources import facts_of, lines_of
from anacp.errors import FeatureStoreError, ParameterError
from anacp.words import counted, format_bytes

if TYPE_CHECKING:
    from rich.table import Table

features = typer.Typer(help="Make, list, check and clear features.", no_args_is_help=True)
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
def extract(
    examples: Examples,
    backbone: Annotated[str, typer.Option(metavar="NAME", help="What makes the features.", show_default=False)],
    layers: LayersOption = None,
    label: Label = None,
    split: Split = None,
    on_error: OnBad = OnErrorOption.refuse,
    strict: Strict = False,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    path_column: PathColumn = None,
    on_cluster: ClusterOption = None,
    device: Device = "cpu",
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Make the features of examples and keep them, for experiments and whatever else asks the store."""
    console = cli.Screen(quiet=as_json)
    columns = datasets.Columns(text_column, label_column, path_column)
    here = "cpu" if on_cluster is not None else device
    encoder = encoders.Encoder(backbone, layers=layers_of(layers), device=here, remote_code=remote_code)
    reading = cluster.Reading(label, split, on_error.value, columns, encoder.modality)
    facts: dict[str, Any] = {}
    lines: list[str] = []
    with cli.shown_progress(console) as report:
        if on_cluster is None:
            options: dict[str, Any] = {"label": label, "split": split, "strict": strict, "modality": encoder.modality}
            given = datasets.read_labelled(*examples, on_error=on_error.value, columns=columns, **options)
            found = encoder.encode(
                list(given.items), store=encoders.FeatureStore(), on_error=on_error.value, report=report
            )
            n, skipped, left_out = len(found.x), found.skipped, given.left_out
        else:
            with cluster.connected(on_cluster) as nodes:
                workers = cluster.pool_of(nodes, encoder, device=device)
                done = cluster.extract(
                    nodes, encoder, examples, reading=reading, strict=strict, workers=workers, report=report
                )
                workers.close()
            n, skipped, left_out = done.rows, [*done.skipped], done.left_out
            facts, lines = {"cluster": done.tally.facts()}, done.tally.lines()
    key = encoder.parts[0].whole.fingerprint
    if as_json:
        told = {"skipped": facts_of(skipped), "left_out": facts_of(left_out)}
        print(json.dumps({"rows": n, "n_features": encoder.n_features, "key": key, **told, **facts}))
        return
    for line in [*lines, *lines_of("left out", left_out), *lines_of("skipped", skipped)]:
        say(line)
    say(f"{counted(n, 'row')} of {encoder.n_features:,} features of {encoder.name} kept as {key}")


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
