"""`anacp datasets`: what is known, what is on disk, and whether it is what it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from anacp import cli, datasets, samples

commands = typer.Typer(help="Data sets: what is known, what is on disk, what is missing.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A known name, sample:NAME, folder:PATH, or the path of a file.")]
Root = Annotated[Path | None, typer.Option(help="Folder of the data sets; else $ANACP_DATA, else ~/.cache/anacp/data.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]


@dataclass(frozen=True)
class Row:
    """A line of `anacp datasets list`."""

    card: datasets.Card
    paths: tuple[Path | str, ...]
    advice: str

    @property
    def where(self) -> str:
        """The files and folders it consists of."""
        return ", ".join(map(str, self.paths))

    def as_dict(self) -> dict[str, object]:
        """Return the line ready for JSON."""
        card = {"name": self.card.name, "modality": self.card.modality, "n_classes": self.card.n_classes}
        return {**card, "paths": [str(path) for path in self.paths], "advice": self.advice}


@commands.command("list")
def list_datasets(root: Root = None, as_json: AsJson = False) -> None:
    """List the data sets known by name, and where each is or should go."""
    folder = datasets.data_folder(root)
    rows = []
    for _, known in sorted(datasets.SOURCES.items()):
        found = known.find(folder)
        rows.append(Row(known.card, found.paths if found else (), "" if found else known.advice(folder)))
    rows += [Row(datasets.read_sample(name).card, ("embedded in the package",), "") for name in samples.SAMPLES]
    if as_json:
        print(json.dumps({"folder": str(folder), "datasets": [row.as_dict() for row in rows]}))
        return
    console = cli.Screen()
    console.print(f"{'name':<18} {'kind':<9} {'classes':>7}  where", style="bold")
    for row in rows:
        line = f"{row.card.name:<18} {row.card.modality:<9} {row.card.n_classes or '':>7}  {row.where or 'missing'}"
        console.print(line, highlight=False, soft_wrap=True)
    console.print(f"\nData folder: {folder}", highlight=False, soft_wrap=True)
    for row in rows:
        if row.advice:
            console.print(f"{row.card.name}: {row.advice}", highlight=False, soft_wrap=True)
    console.print("Your own: folder:PATH of class folders, or a .csv, .jsonl, .npz, .parquet file.", highlight=False)


@commands.command("card")
def show_card(name: Name, root: Root = None, as_json: AsJson = False) -> None:
    """Show where a data set comes from, its terms, and what it should contain."""
    shown = _card(name, root).as_dict()
    if as_json:
        print(json.dumps(shown))
        return
    console = cli.Screen()
    for key, value in shown.items():
        text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        console.print(f"{key.replace('n_', ''):<10} {text or 'not stated'}", highlight=False, soft_wrap=True)


@commands.command("check")
def check(name: Name, root: Root = None, as_json: AsJson = False) -> None:
    """Compare checksums and sizes with the published ones, and look for test examples among the training ones."""
    from rich import progress as bars

    console = cli.Screen(quiet=as_json)
    data = datasets.open_dataset(name, root=root)
    files = list(datasets.verify(name, root=root)) if data.name in datasets.SOURCES else []
    with bars.Progress(console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("duplicates", total=None)
        found = datasets.duplicates(
            data, report=lambda step: progress.update(bar, completed=step.done, total=step.total)
        )
    sizes = {**data.sizes, "all": sum(data.sizes.values()), "classes": len(data.classes)}
    expected = {**data.card.sizes, **({"classes": data.card.n_classes} if data.card.n_classes else {})}
    passed = all(file.agrees is not False for file in files) and all(sizes.get(k) == v for k, v in expected.items())
    for line in _findings(files, sizes, expected, found):
        console.print(line, highlight=False, soft_wrap=True)
    if as_json:
        checked = [asdict(file) | {"path": str(file.path), "agrees": file.agrees} for file in files]
        contents = {"sizes": sizes, "expected": expected, "duplicates": [asdict(content) for content in found]}
        print(json.dumps({"name": data.name, "passed": passed, "files": checked, **contents}))
    raise typer.Exit(0 if passed else 1)


def _findings(
    files: Sequence[datasets.Verified],
    sizes: Mapping[str, int],
    expected: Mapping[str, int],
    found: Sequence[datasets.Duplicate],
) -> Iterator[str]:
    for file in files:
        verdict = {
            True: "is the published file",
            None: "no checksum published",
            False: "DIFFERS from the published file",
        }
        yield f"{file.path}: {verdict[file.agrees]} (MD5 {file.found})"
    for key, size in sizes.items():
        wanted = expected.get(key, size)
        yield f"{key}: {size:,}" + ("" if size == wanted else f", DIFFERS from the published {wanted:,}")
    yield f"{len(found)} contents are among both training and test rows."
    for content in found[:10]:
        labels = "the same label" if content.same_label else "different labels"
        yield f"  {content.digest}: training rows {content.train}, test rows {content.test}, {labels}"
    if len(found) > 10:
        yield f"  … and {len(found) - 10} more; --json lists all."


def _card(name: str, root: Path | None) -> datasets.Card:
    if ":" in name or "/" in name or Path(name).suffix:
        return datasets.open_dataset(name, root=root).card
    return datasets.SOURCES.find(name).card
