"""Where the numbers come from: protocols, data, backbones, machines, runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anacp.experiments.results import RunResult
from anacp.reports.collect import Collection
from anacp.reports.runs import LeftOut
from anacp.reports.tables.table import Cell, Column, Row, Table, number, seconds, words

__all__ = ["Listing", "backbones", "datasets", "environments", "leakage", "left_out", "protocols", "runs"]

# Data whose classes are those of a larger set: met in pretraining under the larger set's name.
DRAWN_FROM = {
    "imagenet-r": "imagenet",
    "tiny-imagenet": "imagenet",
    "cub-200-2011": "cub",
    "stanford-cars": "cars",
    "stanford-cars-190": "cars",
}

FINGERPRINTS = ("backbone", "dataset")  # told in tables of their own
SHOWN = ("anacp", "python", "torch", "cpu")  # of an environment, without unfolding it


@dataclass(frozen=True)
class Listing:
    """Something long that unfolds."""

    summary: str
    lines: tuple[str, ...]


def protocols(collection: Collection) -> list[Listing]:
    """Return every distinct protocol in full, with the runs that followed it."""
    found: dict[str, list[RunResult]] = {}
    for run in collection.runs:
        found.setdefault(json.dumps(run.protocol, sort_keys=True, ensure_ascii=False), []).append(run)
    listings = []
    for text, followed in found.items():
        protocol = json.loads(text)
        short = [f"{key} {value}" for key, value in protocol.items() if not isinstance(value, list | dict | None)]
        data = ", ".join(dict.fromkeys(str(run.dataset["name"]) for run in followed))
        if "class_order" in protocol:
            protocol.pop("classes", None)  # the same classes, sorted
        lines = [f"{key}: {_plain(value)}" for key, value in protocol.items()]
        listings.append(Listing(f"{data}: {', '.join(short)} ({_count(len(followed), 'run')})", tuple(lines)))
    return listings


def datasets(collection: Collection) -> Table:
    """Return name, sizes and terms of every data set."""
    names = ("name", "title", "n_classes", "n_train", "n_test", "licence", "fingerprint")
    heads = ("data set", "title", "classes", "training rows", "test rows", "licence", "contents")
    columns = [Column(head, numeric=name.startswith("n_")) for head, name in zip(heads, names, strict=True)]
    rows = dict.fromkeys(Row(tuple(_fact(run.dataset.get(name)) for name in names)) for run in collection.runs)
    return Table("data-sets", "Data sets: terms, and contents by fingerprint.", tuple(columns), tuple(rows))


def backbones(collection: Collection) -> Table:
    """Return every backbone on every data set, with what it may have seen of the test classes."""
    heads = ("backbone", "data set", "weights", "pretrained on", "licence", "leakage")
    used: dict[tuple[str, str], list[RunResult]] = {}
    for run in collection.runs:
        name = str(run.made_by.get("name", "features as given"))
        used.setdefault((name, str(run.dataset["name"])), []).append(run)
    rows = []
    for (name, data), by in used.items():
        known = by[0].made_by
        terms = (known.get("pretrained_on"), known.get("licence"), leakage(known.get("pretrained_on"), data))
        rows.append(Row(tuple(words(text) for text in (name, data, _weights(by), *terms))))
    text = "Backbones: which weights, by fingerprint, and whether pretraining may have met the test classes."
    return Table("backbones", text, tuple(Column(head, numeric=False) for head in heads), tuple(rows))


def _weights(by: Sequence[RunResult]) -> str:
    """Return the fingerprints of the weights that runs used as they are, and how many were adapted."""
    known = {(bool(run.adaptation), str(run.made_by["fingerprint"])) for run in by if "fingerprint" in run.made_by}
    frozen = sorted(fingerprint for adapted, fingerprint in known if not adapted)
    n_adapted = len(known) - len(frozen)
    return ", ".join([*frozen, *([f"{n_adapted} adapted"] if n_adapted else [])])


def leakage(pretrained_on: str | None, dataset: str) -> str:
    """Say what pretraining may have revealed of the test classes."""
    if not pretrained_on:
        return "Not recorded: whether the backbone has met the test classes is unknown."
    known = pretrained_on.casefold()
    source = DRAWN_FROM.get(dataset, dataset.rpartition(":")[2]).casefold()
    named = source in known.replace("-", "") or source in known
    if "without" in known:
        if named:
            return "Pretraining met examples of these classes, without their labels."
        return "Examples of the test classes may be in the pretraining data; their labels are not."
    if named:
        return "Pretraining met these classes with their labels: they are not new to the backbone."
    return "Trained with labels: test classes that also occur there are not new to the backbone."


def environments(collection: Collection) -> list[Listing]:
    """Return every distinct environment, with the number of runs made in it."""
    found: dict[str, int] = {}
    for run in collection.runs:
        facts = {key: value for key, value in run.environment.items() if key not in FINGERPRINTS}
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
        found[text] = found.get(text, 0) + 1
    listings = []
    for text, n in found.items():
        facts = dict(_flat(json.loads(text)))
        short = {key.rpartition(" ")[2]: value for key, value in facts.items()}
        known = [f"{key} {short[key]}" for key in SHOWN if key in short]
        head = ", ".join(known) or ("as recorded" if facts else "not recorded")
        listings.append(
            Listing(f"{head} ({_count(n, 'run')})", tuple(f"{key}: {value}" for key, value in facts.items()))
        )
    return listings


def runs(collection: Collection) -> Table:
    """Return all runs, one a row."""
    columns = (
        Column("run", numeric=False),
        Column("title", numeric=False),
        Column("method", numeric=False),
        Column("data set", numeric=False),
        Column("seed"),
        Column("A_last"),
        Column("A_avg"),
        Column("all, s"),
    )
    rows = [
        Row(
            (
                words(run.folder.name),
                words(run.title),
                words(run.method),
                words(run.dataset["name"]),
                Cell(str(run.seed), run.seed),
                *(number(None if value is None else (value, 0.0)) for value in _accuracies(run)),
                seconds(sum(run.seconds.values())),
            )
        )
        for run in collection.runs
    ]
    plain = tuple(Row(tuple(Cell(cell.text, cell.value) for cell in row.cells)) for row in rows)
    return Table("runs", f"All {_count(len(rows), 'run')} of this report.", columns, plain)


def left_out(entries: Sequence[LeftOut]) -> list[str]:
    """Return one line for each folder that is no part of the report."""
    return [f"{entry.folder}: {entry.reason}" for entry in entries]


def _accuracies(run: RunResult) -> tuple[float | None, float | None]:
    return run.metrics.get("A_last"), run.metrics.get("A_avg")


def _fact(value: object) -> Cell:
    return Cell(f"{value:,}", value) if isinstance(value, int) else words(value)


def _flat(facts: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    pairs = []
    for key, value in facts.items():
        name = f"{before} {key}".strip()
        pairs += _flat(value, name) if isinstance(value, Mapping) else [(name, _plain(value))]
    return pairs


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
